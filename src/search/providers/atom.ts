/**
 * Reads the entries of an Atom feed (RFC 4287) in linear time. It reads only what a search needs: the text of the
 * elements of each entry. It resolves no entities other than those of characters, and reads no DTD.
 */

export interface AtomEntry {
  /** The text of the first element of this name; empty if there is none. Markup inside is kept. */
  text(name: string): string;
  /** The texts of all elements of this name, also inside other elements. */
  texts(name: string): string[];
}

/** Longer feeds are cut. A page of results is far smaller. */
const MAX_CHARACTERS = 2_000_000;
const MAX_ENTRIES = 200;
const MAX_ELEMENTS = 50;

/** Returns the entries; `undefined` if the text is not a complete feed. */
export function readAtom(text: string): AtomEntry[] | undefined {
  const feed = text.slice(0, MAX_CHARACTERS);
  const start = feed.search(/<feed[\s>]/);
  if (start < 0 || feed.lastIndexOf('</feed>') < start) return undefined;
  return elements(feed.slice(start), 'entry', MAX_ENTRIES).map((entry) => ({
    text: (name) => elements(entry, name, 1)[0]?.trim() ?? '',
    texts: (name) => elements(entry, name, MAX_ELEMENTS).map((text) => text.trim()),
  }));
}

/** Returns the inner text of the elements of a name. Elements of the same name must not be nested. */
function elements(xml: string, name: string, most: number): string[] {
  const found: string[] = [];
  const open = `<${name}`;
  const close = `</${name}>`;
  for (let at = xml.indexOf(open); at >= 0 && found.length < most; at = xml.indexOf(open, at)) {
    at += open.length;
    if (!/[\s>/]/.test(xml[at] ?? '')) continue;
    const begin = xml.indexOf('>', at);
    if (begin < 0) break;
    if (xml[begin - 1] === '/') continue;
    const end = xml.indexOf(close, begin);
    if (end < 0) break;
    found.push(xml.slice(begin + 1, end));
    at = end + close.length;
  }
  return found;
}
