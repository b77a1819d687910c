/**
 * The tree construction of the HTML standard: parse5's, with the tokenizer and the nodes of this folder, and with
 * limits on nesting depth and number of nodes.
 *
 * parse5 accesses its own tokenizer and tree only through the methods replaced here. Differential tests compare the
 * trees with those of unmodified parse5.
 */
import {
  html,
  InsertionMode,
  Parser,
  type ParserOptions,
  Token,
  TokenizerMode,
  type TreeAdapter,
  type TreeAdapterTypeMap,
} from 'parse5';
import {
  type Attribute,
  append,
  type Child,
  Comment,
  Document,
  detach,
  Element,
  hasAttribute,
  insertBefore,
  type Namespace,
  type Parent,
  TEXT,
  Text,
} from './node.ts';
import { MAX_ATTRIBUTES, Tokenizer, type TokenSink } from './tokenizer.ts';

export interface TreeLimits {
  /** An element opened at this depth is closed immediately, so that its content becomes its siblings. */
  maxDepth: number;
  /** Maximum total number of elements, attributes and comments; the rest of the source is ignored. */
  maxPieces: number;
}

type Map5 = TreeAdapterTypeMap<
  Parent | Child,
  Parent,
  Child,
  Document,
  Document,
  Element,
  Comment,
  Text,
  Element,
  Comment
>;

interface Place {
  parent: Parent;
  beforeElement: Element | null;
}

const NAMESPACES: Partial<Record<html.NS, Namespace>> = { [html.NS.SVG]: 'svg', [html.NS.MATHML]: 'math' };
const URIS: Record<Namespace, html.NS> = { html: html.NS.HTML, svg: html.NS.SVG, math: html.NS.MATHML };

const adapter: TreeAdapter<Map5> = {
  createDocument: () => new Document(),
  createDocumentFragment: () => new Document(),
  createElement: (name, uri, attributes) =>
    new Element(name, uri === html.NS.HTML ? 'html' : NAMESPACES[uri], attributes as Attribute[]),
  createCommentNode: (value) => new Comment(value),
  createTextNode: (value) => new Text(value),
  appendChild: (parent, node) => append(parent, node),
  insertBefore: (_, node, reference) => insertBefore(node, reference),
  setTemplateContent: (template, content) => {
    template.content = content;
  },
  getTemplateContent: (template) => template.content!,
  setDocumentType: () => {},
  setDocumentMode: (document, mode) => {
    document.quirks = mode === html.DOCUMENT_MODE.QUIRKS;
  },
  getDocumentMode: (document) => (document.quirks ? html.DOCUMENT_MODE.QUIRKS : html.DOCUMENT_MODE.NO_QUIRKS),
  detachNode: (node) => detach(node),
  insertText: (parent, value) => {
    const { last } = parent;
    if (last !== null && last.type === TEXT) last.value += value;
    else append(parent, new Text(value));
  },
  insertTextBefore: (_, value, reference) => {
    if (reference.prev?.type === TEXT) reference.prev.value += value;
    else insertBefore(new Text(value), reference);
  },
  adoptAttributes: (element, attributes) => {
    for (const entry of attributes) {
      if (element.attributes.length >= MAX_ATTRIBUTES) return;
      if (!hasAttribute(element, entry.name)) element.attributes.push(entry);
    }
  },
  getFirstChild: (node) => node.first,
  getChildNodes: (node) => {
    const list: Child[] = [];
    for (let child = node.first; child; child = child.next) list.push(child);
    return list;
  },
  getParentNode: (node) => (node as Child).parent,
  getAttrList: (element) => element.attributes,
  getTagName: (element) => element.name,
  getNamespaceURI: ({ namespace }) => (namespace === 'html' ? html.NS.HTML : URIS[namespace]),
  getTextNodeContent: (node) => node.value,
  getCommentNodeContent: (node) => node.value,
  getDocumentTypeNodeName: () => '',
  getDocumentTypeNodePublicId: () => '',
  getDocumentTypeNodeSystemId: () => '',
  getNodeSourceCodeLocation: () => null,
  setNodeSourceCodeLocation: () => {},
  updateNodeSourceCodeLocation: () => {},
  isTextNode: (node): node is Text => node instanceof Text,
  isCommentNode: (node): node is Comment => node instanceof Comment,
  isDocumentTypeNode: (_): _ is Comment => false,
  isElementNode: (node): node is Element => node instanceof Element,
};

const OPTIONS: ParserOptions<Map5> = { treeAdapter: adapter, scriptingEnabled: false };

/** Insertion modes that treat white space like other text, so that a mixed run can remain one token. */
const MIXING: readonly InsertionMode[] = [
  InsertionMode.IN_BODY,
  InsertionMode.IN_CAPTION,
  InsertionMode.IN_CELL,
  InsertionMode.IN_TEMPLATE,
  InsertionMode.TEXT,
  InsertionMode.IN_SELECT,
  InsertionMode.IN_SELECT_IN_TABLE,
];
const MIXES = Uint8Array.from({ length: InsertionMode.AFTER_AFTER_FRAMESET + 1 }, (_, mode) =>
  MIXING.includes(mode) ? 1 : 0,
);

const WHITE = Token.TokenType.WHITESPACE_CHARACTER;
const WHITE_RUN = /[\t\n\f\r ]+|[^\t\n\f\r ]+/g;

export class TreeBuilder extends Parser<Map5> implements TokenSink {
  /** Maximum number of elements that were open at once. */
  depth = 0;
  elements = 0;
  /** Whether the end of the source was reached before `maxPieces`. */
  complete = true;
  /** Whether a `base` element was created. */
  hasBase = false;

  #ownTokenizer: Tokenizer | null = null;
  #limits: TreeLimits = { maxDepth: Number.POSITIVE_INFINITY, maxPieces: Number.POSITIVE_INFINITY };
  #pieces = 0;
  /** Reused objects: the token for text that goes directly into the tree, and the position for the next node. */
  readonly #characters: Token.CharacterToken = { type: Token.TokenType.CHARACTER, chars: '', location: null };
  readonly #place: Place = { parent: this.document, beforeElement: null };
  /** The attributes of the current token, until an element owns them. */
  #fresh: readonly Token.Attribute[] | null = null;

  /** Creates a builder for a whole document. */
  static forDocument(): TreeBuilder {
    return new TreeBuilder(OPTIONS);
  }

  /** Creates a builder for a fragment, parsed as the content of a template. */
  static forFragment(): TreeBuilder {
    return TreeBuilder.getFragmentParser<Map5>(null, OPTIONS) as TreeBuilder;
  }

  /** Builds the tree of a source. Use each builder only once. */
  run(source: string, limits: TreeLimits): void {
    const tokenizer = new Tokenizer(source, this);
    tokenizer.inForeignNode = this.tokenizer.inForeignNode;
    this.#ownTokenizer = tokenizer;
    this.#limits = limits;
    // The parser uses only `state` and `inForeignNode` of its tokenizer, and ours has both.
    this.tokenizer = tokenizer as unknown as Parser<Map5>['tokenizer'];
    tokenizer.run();
  }

  onText(chars: string): void {
    const mixes = MIXES[this.insertionMode] === 1 || this.#ownTokenizer!.inForeignNode;
    if (isWhite(chars)) {
      // A table holds back the white space between its parts until it is clear where it belongs.
      this.onWhitespaceCharacter(mixes ? this.#token(WHITE, chars) : { type: WHITE, chars, location: null });
    } else if (mixes) {
      // The line break at the start of a pre or textarea is dropped; parse5 looks for it in white space only.
      const isDropped = this.skipNextNewLine && chars.charCodeAt(0) === 10;
      this.onCharacter(this.#token(Token.TokenType.CHARACTER, isDropped ? chars.slice(1) : chars));
    } else this.#onRuns(chars);
  }

  #token(type: Token.CharacterToken['type'], chars: string): Token.CharacterToken {
    const token = this.#characters;
    token.type = type;
    token.chars = chars;
    return token;
  }

  /** Emits white space and other characters separately, like parse5's own tokenizer. */
  #onRuns(chars: string): void {
    for (const [run] of chars.matchAll(WHITE_RUN)) {
      const white = isWhite(run);
      const type = white ? Token.TokenType.WHITESPACE_CHARACTER : Token.TokenType.CHARACTER;
      const token: Token.CharacterToken = { type, chars: run, location: null };
      if (white) this.onWhitespaceCharacter(token);
      else this.onCharacter(token);
    }
  }

  onNull(): void {
    this.onNullCharacter({ type: Token.TokenType.NULL_CHARACTER, chars: '\0', location: null });
  }

  override onStartTag(token: Token.TagToken): void {
    this.#fresh = token.attrs;
    this.#count(token.attrs.length);
    const { tagName } = token;
    const before = this.openElements.current;
    super.onStartTag(token);
    if (this.openElements.depth > this.#limits.maxDepth && this.openElements.current !== before) {
      this.#closeAtOnce(tagName, token.tagID);
    }
  }

  /** Closes the element that a start tag just opened, unless its text follows. */
  #closeAtOnce(tagName: string, tagID: html.TAG_ID): void {
    const opened = this.openElements.current;
    if (this.#ownTokenizer!.state !== TokenizerMode.DATA) return;
    this.onEndTag({
      type: Token.TokenType.END_TAG,
      tagName,
      tagID,
      selfClosing: false,
      ackSelfClosing: false,
      attrs: [],
      location: null,
    });
    if (this.openElements.current === opened) this.openElements.pop();
  }

  override _getInsertionLocation(): Place {
    if (this._shouldFosterParentOnInsertion()) return this._findFosterParentingLocation();
    this.#place.parent = this.openElements.currentTmplContentOrNode ?? this.document;
    return this.#place;
  }

  override onComment(token: Token.CommentToken): void {
    this.#count(1);
    super.onComment(token);
  }

  #count(pieces: number): void {
    this.#pieces += pieces;
    if (this.#pieces > this.#limits.maxPieces && this.complete) {
      this.complete = false;
      this.#ownTokenizer!.stop();
    }
  }

  override _createElement(tagName: string, uri: html.NS, attrs: Token.Attribute[], intendedParent: Parent): Element {
    this.elements++;
    if (tagName === 'base') this.hasBase = true;
    this.#count(1);
    // A reopened formatting element is created from its first token, so it must not share the attributes.
    const own = attrs === this.#fresh ? attrs : attrs.map((entry) => ({ ...entry }));
    this.#fresh = null;
    return super._createElement(tagName, uri, own, intendedParent);
  }

  /** Does not reopen formatting elements where no more elements can be opened. */
  override _reconstructActiveFormattingElements(): void {
    if (this.openElements.depth < this.#limits.maxDepth) super._reconstructActiveFormattingElements();
  }

  override onItemPush(node: Parent, tid: number, isTop: boolean): void {
    super.onItemPush(node, tid, isTop);
    if (this.openElements.depth > this.depth) this.depth = this.openElements.depth;
  }
}

function isWhite(chars: string): boolean {
  for (let i = 0; i < chars.length; i++) {
    const unit = chars.charCodeAt(i);
    if (unit !== 32 && unit !== 10 && unit !== 9 && unit !== 12 && unit !== 13) return false;
  }
  return true;
}
