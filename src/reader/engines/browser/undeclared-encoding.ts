/**
 * Browsers read a page that declares no encoding as windows-1252, even if its bytes are UTF-8. Each byte then becomes
 * one character, so the text can be restored.
 */
import { bodyOf } from './assert-page.ts';
import type { MainDocument } from './network.ts';

/** The characters for the bytes 0x80 to 0x9f (Encoding standard, index windows-1252). */
const FROM_0X80 = '€\x81‚ƒ„…†‡ˆ‰Š‹Œ\x8dŽ\x8f\x90‘’“”•–—˜™š›œ\x9džŸ';
const byteOf = new Map([...FROM_0X80].map((letter, at) => [letter, String.fromCharCode(0x80 + at)]));
const AS_BYTES = new RegExp(`[${FROM_0X80}]`, 'g');
/** UTF-8 sequences, with one character for each byte. */
const SEQUENCES = /[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}/g;
const RUNS = new RegExp(`[\\xa0-\\xff${FROM_0X80}]{2,}`, 'g');

/** Text whose UTF-8 was read as windows-1252, as it was meant. Other characters stay. */
export const restoreUtf8 = (text: string): string =>
  text.replace(RUNS, (run) => {
    const bytes = run.replace(AS_BYTES, (letter) => byteOf.get(letter)!);
    let restored = '';
    let at = 0;
    for (const { 0: sequence, index } of bytes.matchAll(SEQUENCES)) {
      restored += run.slice(at, index) + Buffer.from(sequence, 'latin1').toString('utf8');
      at = index + sequence.length;
    }
    return restored + run.slice(at);
  });

/** Restores the captured HTML of documents. Each document's bytes are tested once. */
export function createEncodingRepair() {
  const isMisread = new WeakMap<MainDocument, boolean>();
  return async (html: string, encoding: string, main: MainDocument | undefined): Promise<string> => {
    if (!main?.response || encoding !== 'windows-1252') return html;
    let misread = isMisread.get(main);
    if (misread === undefined) {
      const bytes = await bodyOf(main);
      // The body may arrive later.
      if (!bytes) return html;
      const { decodeHtml } = await import('#html/decode.ts');
      misread = decodeHtml(bytes, main.response.headers()['content-type']).charset === 'utf-8';
      isMisread.set(main, misread);
    }
    // The capture writes U+00A0, which may be part of a sequence, as an entity.
    return misread ? restoreUtf8(html.replaceAll('&nbsp;', '\u00a0')) : html;
  };
}
