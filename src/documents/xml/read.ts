/**
 * A streaming (SAX) XML reader: one pass over the text. Document types are skipped and their declarations ignored. A
 * document that declares entities is refused: no supported format needs them, and they can expand without bound.
 */
import { decodeText } from '#html/decode.ts';
import { ownValue } from '#own-value.ts';
import { DocumentError } from '../document.ts';
import { prefixOf, UNKNOWN } from './namespaces.ts';

/** Bytes are decoded by their byte order mark or XML declaration, otherwise as UTF-8. */
export type XmlInput = string | Uint8Array;

/** Alternating names and values. Names have the prefixes of namespaces.ts; namespace declarations are left out. */
export type Attributes = readonly string[];

export interface XmlHandler {
  open(name: string, attributes: Attributes): void;
  /** `<name/>`. If absent, `open` and `close` are called. */
  empty?(name: string, attributes: Attributes): void;
  close(name: string): void;
  /** Text between two tags may arrive in several pieces. */
  text(text: string): void;
}

export interface ReadXmlOptions {
  /** Stops at the first error instead of throwing. */
  readonly lenient?: boolean;
  /** For documents that are streamed without building a tree, such as large sheets. Default 10 million. */
  readonly maxNodes?: number;
}

/** Maximum depth of nested elements. */
const MAX_DEPTH = 1_000;
/** Counts elements, attributes and texts. */
const MAX_NODES = 10_000_000;

const NONE: Attributes = [];

/** The value of an attribute by its prefixed name. */
export function attributeIn(attributes: Attributes, name: string): string | undefined {
  for (let at = 0; at < attributes.length; at += 2) if (attributes[at] === name) return attributes[at + 1];
  return undefined;
}

/**
 * Calls the handler for each event; the handler may throw to stop. Returns false if a `lenient` read ended at an error.
 * Throws DocumentError: `damaged` unless lenient; `too large` for more than 1,000 levels or 10 million nodes.
 */
export function readXml(
  input: XmlInput,
  handler: XmlHandler,
  { lenient = false, maxNodes = MAX_NODES }: ReadXmlOptions = {},
): boolean {
  const reader = new Reader(typeof input === 'string' ? input : decodeText(input).text, handler, maxNodes);
  try {
    reader.run();
    return true;
  } catch (error) {
    if (lenient && error instanceof DocumentError && error.kind === 'damaged') return false;
    throw error;
  }
}

const LT = 0x3c;
const GT = 0x3e;
const SLASH = 0x2f;
const EQUALS = 0x3d;
const BANG = 0x21;
const QUESTION = 0x3f;
const QUOTE = 0x22;
const APOSTROPHE = 0x27;

const isSpace = (code: number): boolean => code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;

const malformed = (what: string) => new DocumentError('damaged', `The XML in the file is not well-formed: ${what}`);

interface Open {
  readonly raw: string;
  readonly name: string;
  /** Prefixes that the element declares; usually `undefined`. */
  readonly declared: readonly string[] | undefined;
}

class Reader {
  readonly #source: string;
  readonly #handler: XmlHandler;
  readonly #maxNodes: number;
  readonly #open: Open[] = [];
  readonly #scope = new Scope();
  #at = 0;
  #nodes = 0;

  constructor(source: string, handler: XmlHandler, maxNodes: number) {
    this.#source = source.charCodeAt(0) === 0xfeff ? source.slice(1) : source;
    this.#handler = handler;
    this.#maxNodes = maxNodes;
  }

  run(): void {
    const source = this.#source;
    let sawRoot = false;
    while (this.#at < source.length) {
      const lt = source.indexOf('<', this.#at);
      this.#text(this.#at, lt < 0 ? source.length : lt);
      if (lt < 0) break;
      const code = source.charCodeAt(lt + 1);
      if (code === SLASH) this.#closeTag(lt);
      else if (code === BANG) this.#declaration(lt);
      else if (code === QUESTION) this.#at = this.#after('?>', lt + 2, 'an instruction does not end');
      else {
        if (sawRoot && this.#open.length === 0) throw malformed('more than one root element');
        sawRoot = true;
        this.#openTag(lt);
      }
    }
    if (!sawRoot) throw malformed('no element');
    if (this.#open.length > 0) throw malformed('it is cut off');
  }

  #count(): void {
    if (++this.#nodes > this.#maxNodes)
      throw new DocumentError('too large', 'The XML in the file has too many elements');
  }

  #after(mark: string, from: number, fault: string): number {
    const end = this.#source.indexOf(mark, from);
    if (end < 0) throw malformed(fault);
    return end + mark.length;
  }

  #text(from: number, to: number): void {
    if (to <= from || this.#open.length === 0) return;
    this.#count();
    this.#handler.text(resolve(this.#source.slice(from, to)));
  }

  #declaration(lt: number): void {
    const source = this.#source;
    if (source.startsWith('<!--', lt)) this.#at = this.#after('-->', lt + 4, 'a comment does not end');
    else if (source.startsWith('<![CDATA[', lt)) {
      const end = this.#after(']]>', lt + 9, 'a section does not end');
      if (end - 3 > lt + 9 && this.#open.length > 0) {
        this.#count();
        this.#handler.text(source.slice(lt + 9, end - 3));
      }
      this.#at = end;
    } else if (/^<!doctype/i.test(source.slice(lt, lt + 9))) this.#doctype(lt);
    else throw malformed('an unknown declaration');
  }

  #doctype(lt: number): void {
    const source = this.#source;
    let quote = 0;
    let inSubset = false;
    for (let at = lt + 9; at < source.length; at++) {
      const code = source.charCodeAt(at);
      if (quote !== 0) {
        if (code === quote) quote = 0;
      } else if (code === QUOTE || code === APOSTROPHE) quote = code;
      else if (code === 0x5b) inSubset = true;
      else if (code === 0x5d) inSubset = false;
      else if (code === LT && inSubset) {
        if (source.startsWith('<!ENTITY', at))
          throw new DocumentError('damaged', 'The XML in the file declares entities, which are not supported');
        if (source.startsWith('<!--', at)) at = this.#after('-->', at + 4, 'a comment does not end') - 1;
      } else if (code === GT && !inSubset) {
        this.#at = at + 1;
        return;
      }
    }
    throw malformed('its document type does not end');
  }

  #openTag(lt: number): void {
    const source = this.#source;
    let at = lt + 1;
    for (let code = source.charCodeAt(at); code !== GT && code !== SLASH && !isSpace(code); ) {
      if (code === LT || Number.isNaN(code)) throw malformed('a tag does not end');
      code = source.charCodeAt(++at);
    }
    const raw = source.slice(lt + 1, at);
    if (raw === '') throw malformed('a tag without name');
    this.#count();
    const pairs = this.#attributes(at);
    const isEmpty = source.charCodeAt(this.#at) === SLASH;
    this.#at += isEmpty ? 2 : 1;
    const declared = pairs.length > 0 ? this.#scope.declare(pairs) : undefined;
    const name = this.#scope.elementName(raw);
    const attributes = pairs.length > 0 ? this.#named(pairs) : NONE;
    if (isEmpty) {
      if (this.#handler.empty) this.#handler.empty(name, attributes);
      else {
        this.#handler.open(name, attributes);
        this.#handler.close(name);
      }
      if (declared) this.#scope.drop(declared);
      return;
    }
    if (this.#open.length >= MAX_DEPTH) {
      throw new DocumentError('too large', 'The XML in the file is nested too deeply');
    }
    this.#open.push({ raw, name, declared });
    this.#handler.open(name, attributes);
  }

  /** Reads raw attribute names and values, from a position inside a tag. Stops at the `>` or `/>`. */
  #attributes(from: number): string[] {
    const source = this.#source;
    const pairs: string[] = [];
    let at = from;
    for (;;) {
      while (isSpace(source.charCodeAt(at))) at++;
      const code = source.charCodeAt(at);
      if (code === GT || (code === SLASH && source.charCodeAt(at + 1) === GT)) {
        this.#at = at;
        return pairs;
      }
      const start = at;
      for (let next = code; next !== EQUALS && !isSpace(next); next = source.charCodeAt(++at)) {
        if (next === GT || next === LT || Number.isNaN(next)) throw malformed('an attribute without value');
      }
      const name = source.slice(start, at);
      while (isSpace(source.charCodeAt(at))) at++;
      if (source.charCodeAt(at) !== EQUALS) throw malformed('an attribute without value');
      at++;
      while (isSpace(source.charCodeAt(at))) at++;
      const quote = source.charCodeAt(at);
      if (quote !== QUOTE && quote !== APOSTROPHE) throw malformed('a value without quotes');
      const end = source.indexOf(quote === QUOTE ? '"' : "'", at + 1);
      if (end < 0) throw malformed('a value does not end');
      this.#count();
      pairs.push(name, resolve(source.slice(at + 1, end)));
      at = end + 1;
    }
  }

  #named(pairs: string[]): Attributes {
    let kept = 0;
    for (let at = 0; at < pairs.length; at += 2) {
      const raw = pairs[at]!;
      if (isDeclaration(raw)) continue;
      pairs[kept] = this.#scope.attributeName(raw);
      pairs[kept + 1] = pairs[at + 1]!;
      kept += 2;
    }
    pairs.length = kept;
    return pairs;
  }

  #closeTag(lt: number): void {
    const source = this.#source;
    const top = this.#open.pop();
    if (!top || !source.startsWith(top.raw, lt + 2)) throw malformed('an end tag without a start tag');
    let at = lt + 2 + top.raw.length;
    while (isSpace(source.charCodeAt(at))) at++;
    if (source.charCodeAt(at) !== GT) throw malformed('an end tag without a start tag');
    this.#at = at + 1;
    this.#handler.close(top.name);
    if (top.declared) this.#scope.drop(top.declared);
  }
}

const isDeclaration = (raw: string): boolean => raw.startsWith('xmlns') && (raw.length === 5 || raw[5] === ':');

/** The namespace prefixes in scope at the current position. */
class Scope {
  /** For each prefix of the file ('' for the default), its namespace bindings in the open elements, innermost last. */
  readonly #meanings = new Map<string, string[]>([['xml', ['xml']]]);
  #elements = new Map<string, string>();
  #attributes = new Map<string, string>();

  /** Adds the namespace declarations among an element's attributes. Returns their prefixes. */
  declare(pairs: readonly string[]): string[] | undefined {
    let declared: string[] | undefined;
    for (let at = 0; at < pairs.length; at += 2) {
      const raw = pairs[at]!;
      if (!isDeclaration(raw)) continue;
      const prefix = raw.slice(6);
      const uri = pairs[at + 1]!;
      const meaning = uri === '' ? '' : prefixOf(uri);
      const meanings = this.#meanings.get(prefix);
      if (meanings?.at(-1) !== meaning) this.#forget();
      if (meanings) meanings.push(meaning);
      else this.#meanings.set(prefix, [meaning]);
      declared ??= [];
      declared.push(prefix);
    }
    return declared;
  }

  drop(declared: readonly string[]): void {
    for (const prefix of declared) {
      const meanings = this.#meanings.get(prefix)!;
      if (meanings.pop() !== meanings.at(-1)) this.#forget();
    }
  }

  elementName(raw: string): string {
    let name = this.#elements.get(raw);
    if (name === undefined) {
      name = this.#resolve(raw, true);
      this.#elements.set(raw, name);
    }
    return name;
  }

  attributeName(raw: string): string {
    let name = this.#attributes.get(raw);
    if (name === undefined) {
      name = this.#resolve(raw, false);
      this.#attributes.set(raw, name);
    }
    return name;
  }

  #forget(): void {
    this.#elements = new Map();
    this.#attributes = new Map();
  }

  #resolve(raw: string, byDefault: boolean): string {
    const colon = raw.indexOf(':');
    if (colon < 0 && !byDefault) return raw;
    const prefix = colon < 0 ? '' : raw.slice(0, colon);
    const meaning = this.#meanings.get(prefix)?.at(-1) ?? (colon < 0 ? '' : UNKNOWN);
    const local = raw.slice(colon + 1);
    return meaning === '' ? local : `${meaning}:${local}`;
  }
}

const NAMED: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

/**
 * Resolves references and normalizes line ends (XML 1.0, sections 2.11 and 4.1). Unknown entities are kept as written.
 */
function resolve(text: string): string {
  const lines = text.includes('\r') ? text.replace(/\r\n?/g, '\n') : text;
  if (!lines.includes('&')) return lines;
  return lines.replace(/&(?:#(\d{1,8})|#x([0-9a-f]{1,7})|(amp|lt|gt|quot|apos));/gi, (all, decimal, hex, name) => {
    if (name !== undefined) return ownValue(NAMED, name) ?? all;
    const code = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal);
    return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : '\ufffd';
  });
}
