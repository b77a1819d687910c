/** Reads the header fields of a MIME entity: RFC 5322 (fields), 2047 (encoded words), 2231 (parameters). */
import { decodeText } from '#html/decode.ts';

export interface Header {
  /** The first field with this name (in lower case), decoded, in one line; '' if there is none. */
  text(name: string): string;
  /** The value and parameters of a structured field, such as Content-Type. */
  structured(name: string): StructuredField;
}

export interface StructuredField {
  /** In lower case. */
  readonly value: string;
  parameter(name: string): string;
}

/** Longer header sections are cut off. */
const MAX_HEADER_CHARACTERS = 512 * 1024;

/** `source` is the header section, one character for each byte. */
export function readHeader(source: string): Header {
  const fields = new Map<string, string>();
  const unfolded = source.slice(0, MAX_HEADER_CHARACTERS).replace(/\r?\n[ \t]+/g, ' ');
  for (const line of unfolded.split(/\r?\n|\r/)) {
    const colon = line.indexOf(':');
    const name = line.slice(0, Math.max(0, colon)).trim().toLowerCase();
    if (name !== '' && !fields.has(name)) fields.set(name, line.slice(colon + 1).trim());
  }
  const raw = (name: string) => fields.get(name) ?? '';
  return {
    text: (name) => oneLine(decodeWords(raw(name))),
    structured: (name) => readStructured(raw(name)),
  };
}

const oneLine = (text: string): string => text.replace(/[\s\0-\x1f\x7f]+/g, ' ').trim();

const bytesOf = (text: string): Buffer => Buffer.from(text, 'latin1');

/** Some programs write text outside ASCII as it is. */
const plainText = (raw: string): string => (/[\x80-\xff]/.test(raw) ? decodeText(bytesOf(raw)).text : raw);

const WORD = /=\?([^?\s]{1,60})\?([bq])\?([^?]*)\?=/gi;

/** Decodes encoded words. Adjacent words may split a character, so their bytes are joined first. */
export function decodeWords(raw: string): string {
  let out = '';
  let at = 0;
  let open: { charset: string; readonly parts: Buffer[] } | undefined;
  const close = () => {
    if (open) out += decodeText(Buffer.concat(open.parts), `text/plain; charset=${open.charset}`).text;
    open = undefined;
  };
  for (const found of raw.matchAll(WORD)) {
    const between = raw.slice(at, found.index);
    const [word, label = '', encoding = '', content = ''] = found;
    const charset = label.replace(/\*.*$/, '').toLowerCase();
    if (open && (between.trim() !== '' || open.charset !== charset)) close();
    if (between.trim() !== '' || at === 0) out += plainText(between);
    open ??= { charset, parts: [] };
    open.parts.push(encoding.toLowerCase() === 'b' ? Buffer.from(content, 'base64') : decodeQ(content));
    at = found.index + word.length;
  }
  close();
  return out + plainText(raw.slice(at));
}

const decodeQ = (text: string): Buffer =>
  bytesOf(
    text
      .replaceAll('_', ' ')
      .replace(/=([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
  );

const PARAMETER = /;\s*([^\s=;"]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^;]*))/g;

function readStructured(raw: string): StructuredField {
  const parameters = new Map<string, string>();
  for (const [, name = '', quoted, plain = ''] of raw.matchAll(PARAMETER)) {
    const key = name.toLowerCase();
    if (!parameters.has(key)) parameters.set(key, quoted?.replace(/\\(.)/g, '$1') ?? plain.trim());
  }
  return {
    value: (raw.split(';', 1)[0] ?? '').trim().toLowerCase(),
    parameter(name) {
      const plain = parameters.get(name);
      return oneLine(plain === undefined ? extended(parameters, name) : decodeWords(plain));
    },
  };
}

const MAX_PIECES = 100;

/** A parameter with a charset or in numbered pieces: `name*`, `name*0*`, `name*1`. */
function extended(parameters: ReadonlyMap<string, string>, name: string): string {
  let charset = '';
  const decoded = (value: string, isFirst: boolean) => {
    const [, label, content = value] = (isFirst && /^([^']*)'[^']*'(.*)$/s.exec(value)) || [];
    charset ||= label ?? '';
    return content.replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  };
  const whole = parameters.get(`${name}*`);
  let text = whole === undefined ? '' : decoded(whole, true);
  for (let n = 0; whole === undefined && n < MAX_PIECES; n++) {
    const encoded = parameters.get(`${name}*${n}*`);
    const piece = encoded === undefined ? parameters.get(`${name}*${n}`) : decoded(encoded, n === 0);
    if (piece === undefined) break;
    text += piece;
  }
  return decodeText(bytesOf(text), charset ? `text/plain; charset=${charset}` : undefined).text;
}
