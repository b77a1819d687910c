/**
 * Whether HTML certainly has more text than a page that stands in place of content, without parsing it. Text in links,
 * navigation and the like does not count.
 */
import { weigh } from './normalized.ts';

const SKIPPED =
  /^<(script|style|noscript|template|title|svg|a|nav|header|footer|aside|button|select|textarea|label)\b/i;
/** This runs on the main thread. */
const MAX_EXAMINED_CHARACTERS = 256 * 1024;
const MUCH_LETTERS = 2_500;
/** Pages whose titles say this may be long and still not be content. */
const LONG_DEFAULT_PAGE = /<title[^>]{0,100}>[^<]{0,60}(?:default|test page|it works|caddy|tomcat|welcome)/i;

/** Linear: each step continues where the last one ended. */
export function hasMuchSource(html: string): boolean {
  const source = html.slice(0, MAX_EXAMINED_CHARACTERS);
  let letters = 0;
  let at = 0;
  while (at < source.length && letters <= MUCH_LETTERS) {
    const tag = source.indexOf('<', at);
    if (tag < 0) break;
    letters += weigh(source.slice(at, tag));
    const end = source.startsWith('<!--', tag) ? source.indexOf('-->', tag + 4) : source.indexOf('>', tag);
    if (end < 0) break;
    const skipped = SKIPPED.exec(source.slice(tag, tag + 12))?.[1];
    at = skipped ? endOf(source, skipped, end) : end + 1;
  }
  return letters > MUCH_LETTERS && !LONG_DEFAULT_PAGE.test(source.slice(0, 4_000));
}

function endOf(source: string, name: string, from: number): number {
  const closing = new RegExp(`</${name}`, 'gi');
  closing.lastIndex = from;
  return closing.exec(source) ? closing.lastIndex : source.length;
}
