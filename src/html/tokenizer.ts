/**
 * The tokenizer of the HTML standard (section 13.2.5) for a document that is completely in memory. Text runs, names
 * and values are found by searching and cut out as slices; character references are decoded only after an ampersand
 * was found. It replaces parse5's tokenizer under parse5's tree construction, which sets `state` and `inForeignNode`.
 * Parse errors are not reported.
 *
 * Every search goes forward and remembers its result, so the time is linear in the length of the source.
 */
import { decodeHTML, decodeHTMLAttribute } from 'entities/decode';
import { html, Token, TokenizerMode } from 'parse5';
import { createNameCache, lowerAsciiUnit } from './name-cache.ts';
import type { Attribute } from './node.ts';

/** Receives the tokens. Character tokens are whole runs of text, with white space and other characters mixed. */
export interface TokenSink {
  onText(chars: string): void;
  /** A NUL in ordinary text or CDATA; its handling depends on the context. */
  onNull(): void;
  onStartTag(token: Token.TagToken): void;
  onEndTag(token: Token.TagToken): void;
  onComment(token: Token.CommentToken): void;
  onDoctype(token: Token.DoctypeToken): void;
  onEof(token: Token.EOFToken): void;
}

export type TokenizerState = (typeof TokenizerMode)[keyof typeof TokenizerMode];

/**
 * Maximum number of attributes of a tag; further ones are dropped. No real page has that many, and a hostile page could
 * have millions.
 */
export const MAX_ATTRIBUTES = 1000;
/** With at least this many attributes, a Set is used to find duplicates. */
const MANY_ATTRIBUTES = 24;

const NUL = 0;
const TAB = 0x09;
const LINE_FEED = 0x0a;
const FORM_FEED = 0x0c;
const SPACE = 0x20;
const BANG = 0x21;
const DOUBLE_QUOTE = 0x22;
const SINGLE_QUOTE = 0x27;
const DASH = 0x2d;
const SLASH = 0x2f;
const LESS = 0x3c;
const EQUALS = 0x3d;
const GREATER = 0x3e;
const QUESTION = 0x3f;
const UPPER_A = 0x41;
const UPPER_Z = 0x5a;

/** Formatting elements (section 13.2.4.3). The tree construction stores their tokens, to reopen the elements. */
const FORMATTING: readonly html.TAG_ID[] = [
  html.TAG_ID.A,
  html.TAG_ID.B,
  html.TAG_ID.BIG,
  html.TAG_ID.CODE,
  html.TAG_ID.EM,
  html.TAG_ID.FONT,
  html.TAG_ID.I,
  html.TAG_ID.NOBR,
  html.TAG_ID.S,
  html.TAG_ID.SMALL,
  html.TAG_ID.STRIKE,
  html.TAG_ID.STRONG,
  html.TAG_ID.TT,
  html.TAG_ID.U,
];
const TAGS = Object.values(html.TAG_ID).filter((id) => typeof id === 'number').length;
const IS_FORMATTING = Uint8Array.from({ length: TAGS }, (_, id) => (FORMATTING.includes(id) ? 1 : 0));

const newTag = (type: Token.TagToken['type']): Token.TagToken => ({
  type,
  tagName: '',
  tagID: html.TAG_ID.UNKNOWN,
  selfClosing: false,
  ackSelfClosing: false,
  attrs: [],
  location: null,
});

const tagNames = createNameCache();
const attributeNames = createNameCache();

export class Tokenizer {
  /** Set by the tree construction after a start tag if the content of the element is not ordinary markup. */
  state: TokenizerState = TokenizerMode.DATA;
  /** Set by the tree construction: whether a CDATA section is allowed here. */
  inForeignNode = false;
  /** Name of the last start tag. Its end tag ends the text of title, script and similar elements. */
  lastStartTagName = '';

  #source: string;
  #length: number;
  #pos = 0;
  #stopped = false;
  /** Whether the last tag ended in a separate slash, as opposed to a slash at the end of a value. */
  #slashClosed = false;
  #sink: TokenSink;
  /** The attributes of the current tag, and the number of list entries that belong to it. */
  readonly #list: Attribute[] = [];
  #count = 0;
  readonly #startTag = newTag(Token.TokenType.START_TAG);
  readonly #endTag = newTag(Token.TokenType.END_TAG);
  #hasNul: boolean;
  /** Name and id of the last tag. */
  #idName = '';
  #id: html.TAG_ID = html.TAG_ID.UNKNOWN;
  /** Position of the next ampersand, unless the current position has passed it. */
  #ampersandAt = -1;
  #commentEnd: () => number;
  #scriptEscape: () => number;
  #cdataEnd: () => number;
  /** Whether the last tag named noscript was a start tag. */
  #inNoscript = false;

  constructor(source: string, sink: TokenSink) {
    this.#source = source.includes('\r') ? source.replaceAll('\r\n', '\n').replaceAll('\r', '\n') : source;
    this.#length = this.#source.length;
    this.#sink = sink;
    this.#hasNul = hasNul(source);
    this.#commentEnd = this.#next('-->');
    this.#scriptEscape = this.#next('<!--');
    this.#cdataEnd = this.#next(']]>');
  }

  /** Emits every token of the source, the end of file last. */
  run(): void {
    while (this.#pos < this.#length && !this.#stopped) {
      switch (this.state) {
        case TokenizerMode.DATA:
          this.#data();
          break;
        case TokenizerMode.RCDATA:
          this.#rawText(true);
          break;
        case TokenizerMode.RAWTEXT:
          this.#rawText(false);
          break;
        case TokenizerMode.SCRIPT_DATA:
          this.#script();
          break;
        case TokenizerMode.CDATA_SECTION:
          this.#cdata();
          break;
        default:
          this.#emitReplaced(this.#pos, this.#length);
          this.#pos = this.#length;
      }
    }
    this.#sink.onEof({ type: Token.TokenType.EOF, location: null });
  }

  /** Ends the run after the current token, as if the source ended there. */
  stop(): void {
    this.#stopped = true;
  }

  /**
   * Creates a search for `needle` from the current position that scans no part of the source twice. It returns the
   * source length if there is no match.
   */
  #next(needle: string): () => number {
    let at = -1;
    return () => {
      if (at < this.#pos) {
        const found = this.#source.indexOf(needle, this.#pos);
        at = found < 0 ? this.#length : found;
      }
      return at;
    };
  }

  /** Whether there is an ampersand between the current position and `end`. */
  #hasAmpersand(end: number): boolean {
    if (this.#ampersandAt < this.#pos) {
      const found = this.#source.indexOf('&', this.#pos);
      this.#ampersandAt = found < 0 ? this.#length : found;
    }
    return this.#ampersandAt < end;
  }

  // Text

  /** Reads text up to the next tag or comment, and that tag or comment. */
  #data(): void {
    const source = this.#source;
    const start = this.#pos;
    let less = source.indexOf('<', start);
    while (less >= 0 && !this.#isMarkup(less)) less = source.indexOf('<', less + 1);
    const end = less < 0 ? this.#length : less;
    this.#emitText(start, end);
    this.#pos = Math.min(end + 1, this.#length);
    if (less >= 0) this.#markup(source.charCodeAt(less + 1));
  }

  /** Whether the `<` at `at` starts a tag or a comment. Otherwise it is text, as is a `</` at the end of the source. */
  #isMarkup(at: number): boolean {
    const unit = this.#source.charCodeAt(at + 1);
    return isLetter(unit) || unit === BANG || unit === QUESTION || (unit === SLASH && at + 2 < this.#length);
  }

  /**
   * Reads markup that starts with a `<` directly before the current position; `unit` is the code unit at that position.
   */
  #markup(unit: number): void {
    if (unit === QUESTION) this.#bogusComment();
    else if (unit === SLASH) {
      this.#pos++;
      this.#endTagOpen();
    } else if (unit === BANG) {
      this.#pos++;
      this.#markupDeclaration();
    } else this.#tag(false);
  }

  /**
   * Emits ordinary text, with references decoded and NULs emitted separately. Call it before the position moves beyond
   * `start`.
   */
  #emitText(start: number, end: number): void {
    if (start === end) return;
    let text = this.#source.slice(start, end);
    if (this.#hasAmpersand(end)) text = decodeHTML(text);
    if (this.#hasNul) this.#emitAroundNul(text);
    else this.#sink.onText(text);
  }

  #emitAroundNul(text: string): void {
    let from = 0;
    for (let nul = text.indexOf('\0'); nul >= 0; nul = text.indexOf('\0', from)) {
      if (nul > from) this.#sink.onText(text.slice(from, nul));
      this.#sink.onNull();
      from = nul + 1;
    }
    if (from < text.length) this.#sink.onText(text.slice(from));
  }

  /** Emits text unchanged, except that NUL becomes U+FFFD. */
  #emitReplaced(start: number, end: number): void {
    if (start < end) this.#sink.onText(this.#replaced(start, end));
  }

  #replaced(start: number, end: number): string {
    const text = this.#source.slice(start, end);
    return this.#hasNul ? text.replaceAll('\0', '\ufffd') : text;
  }

  /**
   * Reads text of title, style and similar elements up to their own end tag. References are decoded only in RCDATA
   * (`decoded`).
   *
   * A frame inside `noscript` ends with the `noscript` at the latest. The standard differs for parsers without scripts:
   * an unclosed frame would take in the rest of the page. Browsers with scripts, which authors test with, read the content
   * of `noscript` as text up to its end tag.
   */
  #rawText(decoded: boolean): void {
    const source = this.#source;
    const start = this.#pos;
    const mayEndOutside = this.#inNoscript && this.lastStartTagName === 'iframe';
    let isOwn = true;
    let end = source.indexOf('</', start);
    while (end >= 0 && !this.#isNamed(end + 2, this.lastStartTagName)) {
      if (mayEndOutside && this.#isNamed(end + 2, 'noscript')) {
        isOwn = false;
        break;
      }
      end = source.indexOf('</', end + 2);
    }
    const stop = end < 0 ? this.#length : end;
    if (start < stop) {
      const text = this.#replaced(start, stop);
      this.#sink.onText(decoded && this.#hasAmpersand(stop) ? decodeHTML(text) : text);
    }
    if (!isOwn) {
      this.#slashClosed = false;
      this.#emitTag(this.#endTag, 'iframe', html.TAG_ID.IFRAME);
    }
    this.#endRawText(stop);
  }

  /** Continues with the end tag at `end`, if there is one. */
  #endRawText(end: number): void {
    if (end === this.#length) {
      this.#pos = end;
      return;
    }
    this.state = TokenizerMode.DATA;
    this.#pos = end + 2;
    this.#tag(true);
  }

  /** Whether `name` occurs at offset `at`, ignoring case, followed by a character that ends a tag name. */
  #isNamed(at: number, name: string): boolean {
    for (let i = 0; i < name.length; i++) {
      if (lowerAsciiUnit(this.#source.charCodeAt(at + i)) !== name.charCodeAt(i)) return false;
    }
    const unit = this.#source.charCodeAt(at + name.length);
    return unit === GREATER || unit === SLASH || isSpace(unit);
  }

  #script(): void {
    const source = this.#source;
    const start = this.#pos;
    const opening = this.#scriptEscape();
    let end = source.indexOf('</', start);
    while (end >= 0 && end < opening && !this.#isNamed(end + 2, this.lastStartTagName)) {
      end = source.indexOf('</', end + 2);
    }
    if (end < 0 || end > opening) end = opening < this.#length ? this.#escapedScriptEnd(opening) : this.#length;
    this.#emitReplaced(start, end);
    this.#endRawText(end);
  }

  /**
   * Finds the end of a script with `<!--` at `at`. After that, a `<script` hides the next end tag, until `-->` ends the
   * comment-like part.
   */
  #escapedScriptEnd(at: number): number {
    const source = this.#source;
    let escaped = true;
    let twice = false;
    // The dashes of the start also count toward the end: `<!-->` is empty.
    let i = at + 2;
    while (i < this.#length) {
      const unit = source.charCodeAt(i);
      if (unit === LESS) {
        if (!escaped) {
          if (source.startsWith('!--', i + 1)) {
            escaped = true;
            i += 2;
            continue;
          }
          if (source.charCodeAt(i + 1) === SLASH && this.#isNamed(i + 2, this.lastStartTagName)) return i;
        } else if (source.charCodeAt(i + 1) === SLASH) {
          if (!twice && this.#isNamed(i + 2, this.lastStartTagName)) return i;
          if (twice && this.#isNamed(i + 2, 'script')) twice = false;
        } else if (!twice && this.#isNamed(i + 1, 'script')) twice = true;
      } else if (unit === DASH && escaped && source.startsWith('->', i + 1)) {
        escaped = false;
        twice = false;
        i += 2;
      }
      i++;
    }
    return this.#length;
  }

  #cdata(): void {
    const end = this.#cdataEnd();
    const text = this.#source.slice(this.#pos, end);
    if (this.#hasNul) this.#emitAroundNul(text);
    else if (text.length > 0) this.#sink.onText(text);
    this.state = TokenizerMode.DATA;
    this.#pos = Math.min(end + 3, this.#length);
  }

  // Tags

  #endTagOpen(): void {
    const unit = this.#source.charCodeAt(this.#pos);
    if (isLetter(unit)) this.#tag(true);
    else if (unit === GREATER) this.#pos++;
    else this.#bogusComment();
  }

  /**
   * Reads a tag from the start of its name, which is the current position. An unfinished tag at the end of the source
   * is dropped.
   */
  #tag(isEnd: boolean): void {
    const tagName = this.#tagName();
    this.#slashClosed = false;
    this.#count = 0;
    if (this.#source.charCodeAt(this.#pos) !== GREATER) this.#attributes();
    if (this.#pos++ >= this.#length) return;
    const tagID = this.#idOf(tagName);
    if (tagID === html.TAG_ID.NOSCRIPT) this.#inNoscript = !isEnd;
    if (isEnd) this.#emitTag(this.#endTag, tagName, tagID);
    else {
      this.lastStartTagName = tagName;
      const token = IS_FORMATTING[tagID] === 1 ? newTag(Token.TokenType.START_TAG) : this.#startTag;
      token.attrs = this.#attributesRead();
      this.#emitTag(token, tagName, tagID);
    }
  }

  /** Cached, because half of all tags have the same name as the one before. */
  #idOf(tagName: string): html.TAG_ID {
    if (tagName !== this.#idName) {
      this.#idName = tagName;
      this.#id = html.getTagID(tagName);
    }
    return this.#id;
  }

  /**
   * Copies the attributes to a list of exact size: a list that was grown has spare capacity, and most elements have
   * only one or two attributes.
   */
  #attributesRead(): Attribute[] {
    const list = this.#list;
    switch (this.#count) {
      case 0:
        return [];
      case 1:
        return [list[0]!];
      case 2:
        return [list[0]!, list[1]!];
      default:
        return list.slice(0, this.#count);
    }
  }

  /**
   * Emits a tag. Tokens of end tags and of most start tags are not retained, so one object of each kind is reused.
   * Attributes of an end tag are ignored.
   */
  #emitTag(token: Token.TagToken, tagName: string, tagID: html.TAG_ID): void {
    token.tagName = tagName;
    token.tagID = tagID;
    token.selfClosing = this.#slashClosed;
    token.ackSelfClosing = false;
    if (token.type === Token.TokenType.END_TAG) this.#sink.onEndTag(token);
    else this.#sink.onStartTag(token);
  }

  #tagName(): string {
    const source = this.#source;
    const start = this.#pos;
    let hash = 0;
    let at = start;
    for (; at < this.#length; at++) {
      let unit = source.charCodeAt(at);
      if (unit <= GREATER && (unit === GREATER || unit === SLASH || isSpace(unit))) break;
      if (unit <= UPPER_Z && unit >= UPPER_A) unit += 32;
      hash = (Math.imul(hash, 31) + unit) | 0;
    }
    this.#pos = at;
    return tagNames.read(source, start, at, hash);
  }

  /** Reads attributes up to the tag's `>`, which becomes the current position, or to the end of the source. */
  #attributes(): void {
    const source = this.#source;
    const list = this.#list;
    let seen: Set<string> | null = null;
    while (this.#pos < this.#length) {
      const unit = source.charCodeAt(this.#pos);
      if (unit === GREATER) return;
      if (isSpace(unit)) {
        this.#pos++;
        continue;
      }
      if (unit === SLASH) {
        this.#slashClosed = source.charCodeAt(++this.#pos) === GREATER;
        continue;
      }
      const name = this.#attributeName();
      const value = this.#attributeValue();
      if (seen ? seen.has(name) || this.#count >= MAX_ATTRIBUTES : hasName(list, this.#count, name)) continue;
      list[this.#count++] = { name, value };
      if (seen) seen.add(name);
      else if (this.#count === MANY_ATTRIBUTES) seen = new Set(list.slice(0, this.#count).map((entry) => entry.name));
    }
  }

  #attributeName(): string {
    const source = this.#source;
    const start = this.#pos;
    // A leading equals sign belongs to the name.
    let hash = lowerAsciiUnit(source.charCodeAt(start));
    let at = start + 1;
    for (; at < this.#length; at++) {
      let unit = source.charCodeAt(at);
      if (unit <= GREATER && (unit === EQUALS || unit === GREATER || unit === SLASH || isSpace(unit))) break;
      if (unit <= UPPER_Z && unit >= UPPER_A) unit += 32;
      hash = (Math.imul(hash, 31) + unit) | 0;
    }
    this.#pos = at;
    return attributeNames.read(source, start, at, hash);
  }

  /** Reads the value that belongs to the attribute name just read; returns an empty string if there is none. */
  #attributeValue(): string {
    const source = this.#source;
    if (this.#skipSpace() !== EQUALS) return '';
    this.#pos++;
    const quote = this.#skipSpace();
    if (quote === GREATER) return '';
    const isQuoted = quote === DOUBLE_QUOTE || quote === SINGLE_QUOTE;
    let end = this.#pos;
    if (isQuoted) {
      end = source.indexOf(quote === DOUBLE_QUOTE ? '"' : "'", ++this.#pos);
      if (end < 0) end = this.#length;
    } else {
      for (; end < this.#length; end++) {
        const unit = source.charCodeAt(end);
        if (unit === GREATER || isSpace(unit)) break;
      }
    }
    const value = this.#value(this.#pos, end);
    this.#pos = isQuoted ? end + 1 : end;
    return value;
  }

  /** Skips white space. Returns the code unit after it, NaN at the end. */
  #skipSpace(): number {
    let unit = this.#source.charCodeAt(this.#pos);
    while (isSpace(unit)) unit = this.#source.charCodeAt(++this.#pos);
    return unit;
  }

  #value(start: number, end: number): string {
    const value = this.#replaced(start, end);
    return this.#hasAmpersand(end) ? decodeHTMLAttribute(value) : value;
  }

  // Comments and doctypes

  #markupDeclaration(): void {
    const source = this.#source;
    const at = this.#pos;
    if (source.startsWith('--', at)) {
      this.#pos = at + 2;
      this.#comment();
    } else if (/^doctype$/i.test(source.slice(at, at + 7))) {
      this.#pos = at + 7;
      this.#doctype();
    } else if (this.inForeignNode && source.startsWith('[CDATA[', at)) {
      this.#pos = at + 7;
      this.state = TokenizerMode.CDATA_SECTION;
    } else this.#bogusComment();
  }

  #comment(): void {
    const source = this.#source;
    const start = this.#pos;
    const end = this.#commentEnd();
    const bang = source.slice(start, end).indexOf('--!>');
    if (source.charCodeAt(start) === GREATER) this.#emitComment(start, start, start + 1);
    else if (source.startsWith('->', start)) this.#emitComment(start, start, start + 2);
    else if (bang >= 0) this.#emitComment(start, start + bang, start + bang + 4);
    else if (end < this.#length) this.#emitComment(start, end, end + 3);
    else {
      // An end marker that is cut off by the end of the source is not part of the comment.
      const cut = /(?:--!|--?)$/.exec(source.slice(Math.max(start, this.#length - 3)))?.[0].length ?? 0;
      this.#emitComment(start, this.#length - cut, this.#length);
    }
  }

  #bogusComment(): void {
    const end = this.#source.indexOf('>', this.#pos);
    if (end < 0) this.#emitComment(this.#pos, this.#length, this.#length);
    else this.#emitComment(this.#pos, end, end + 1);
  }

  #emitComment(start: number, end: number, next: number): void {
    const data = this.#replaced(start, end);
    this.#pos = next;
    this.#sink.onComment({ type: Token.TokenType.COMMENT, data, location: null });
  }

  /** A `>` ends a doctype in every state, even between quotes. */
  #doctype(): void {
    const end = this.#source.indexOf('>', this.#pos);
    const stop = end < 0 ? this.#length : end;
    const token = readDoctype(this.#replaced(this.#pos, stop), end >= 0);
    this.#pos = end < 0 ? stop : end + 1;
    this.#sink.onDoctype(token);
  }
}

const LOW_BYTES = Buffer.alloc(65_536);

/**
 * Whether a text contains a NUL. V8 searches a string for NUL byte by byte, and many characters beyond Latin-1 contain
 * a zero byte. Searching the low bytes alone gives few false hits.
 */
function hasNul(text: string): boolean {
  for (let from = 0; from < text.length; from += LOW_BYTES.length) {
    const size = LOW_BYTES.write(text.slice(from, from + LOW_BYTES.length), 'latin1');
    if (LOW_BYTES.subarray(0, size).includes(NUL)) return text.includes('\0', from);
  }
  return false;
}

const SPACES = /[\t\n\f ]*/y;
const DOCTYPE_NAME = /[^\t\n\f ]*/y;
const KEYWORD = /(?:public|system)/iy;

/** Parses the text between `<!doctype` and its `>`, or the end of the source if it is not `closed`. */
function readDoctype(text: string, closed: boolean): Token.DoctypeToken {
  const token: Token.DoctypeToken = {
    type: Token.TokenType.DOCTYPE,
    name: null,
    forceQuirks: false,
    publicId: null,
    systemId: null,
    location: null,
  };
  let at = 0;
  const take = (pattern: RegExp): string => {
    pattern.lastIndex = at;
    const found = pattern.exec(text)?.[0] ?? '';
    at += found.length;
    return found;
  };
  /**
   * Reads a quoted identifier; null if none starts at this position. A missing or truncated identifier forces quirks
   * mode.
   */
  const takeQuoted = (): string | null => {
    const quote = text[at];
    const end = quote === '"' || quote === "'" ? text.indexOf(quote, at + 1) : -1;
    if (end < 0) token.forceQuirks = true;
    if (quote !== '"' && quote !== "'") return null;
    const value = text.slice(at + 1, end < 0 ? text.length : end);
    at = end < 0 ? text.length : end + 1;
    return value;
  };

  take(SPACES);
  token.name = lowerAscii(take(DOCTYPE_NAME)) || null;
  token.forceQuirks = token.name === null;
  take(SPACES);
  if (at < text.length) {
    const keyword = take(KEYWORD).toLowerCase();
    take(SPACES);
    if (keyword === 'public') {
      token.publicId = takeQuoted();
      take(SPACES);
      if (token.publicId !== null && at < text.length) token.systemId = takeQuoted();
    } else if (keyword === 'system') token.systemId = takeQuoted();
    else token.forceQuirks = true;
    take(SPACES);
  }
  // Truncation has no effect only after a complete system identifier.
  if (!closed && at === text.length) token.forceQuirks = true;
  return token;
}

const lowerAscii = (text: string): string => text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());

const isLetter = (unit: number): boolean => (unit | 32) >= 0x61 && (unit | 32) <= 0x7a;

const isSpace = (unit: number): boolean =>
  unit <= SPACE && (unit === SPACE || unit === LINE_FEED || unit === TAB || unit === FORM_FEED);

/** Whether one of the first `count` attributes has the name. */
function hasName(list: readonly Attribute[], count: number, name: string): boolean {
  for (let at = 0; at < count; at++) if (list[at]!.name === name) return true;
  return false;
}
