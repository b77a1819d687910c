/**
 * Extracts the structure of an HTML document as lists of facts, grouped by kind, so that two documents can be compared
 * kind by kind.
 *
 * A text block is a sequence of inline content between block boundaries. Kinds:
 * - `heading`: level and text.
 * - `paragraph`: a text block of no other kind, and every text block of an item except its first.
 * - `item`: depth of the list, whether it is ordered, and the text without that of nested lists.
 * - `cell`: text of a td or th.
 * - `code`: exact text of a pre, without trailing white space and with no-break spaces as spaces.
 * - `quote`: text of a blockquote.
 * - `link`: text (including the alt text of its pictures) and resolved URL, once per text block.
 * - `image`: alt text and resolved URL.
 * - `strong`, `emphasis`: each sequence of such text in a text block, even across several elements.
 *
 * Text is compared after white space was collapsed and trimmed; no-break spaces and `br` count as white space. Facts
 * without text or a picture are omitted. Superscript and subscript characters of Unicode equal the plain ones. `q` has
 * quotation marks, as in browsers.
 *
 * Elements without a counterpart in Markdown are removed from the source before the conversion, and counted: definition
 * lists, formulas, drawings, scripts, styles, players, frames and controls, and links inside `pre`. Markup inside code
 * spans and blocks inside cells are compared as text. References to notes, and the links from the notes back to the
 * text, are omitted on both sides, because each flavor writes them differently.
 */
import { type DefaultTreeAdapterTypes, parseFragment } from 'parse5';
import { canonicalAlt, canonicalUrl } from '#reader/markdown/round-trip.suite.ts';

export const KINDS = [
  'heading',
  'paragraph',
  'item',
  'cell',
  'code',
  'quote',
  'link',
  'image',
  'strong',
  'emphasis',
] as const;
export type Kind = (typeof KINDS)[number];
export type Structure = Readonly<Record<Kind, readonly string[]>>;

type Node = DefaultTreeAdapterTypes.ChildNode;
type Element = DefaultTreeAdapterTypes.Element;

const BLOCKS = new Set(
  (
    'address article aside blockquote body caption center dd details div dl dt fieldset figcaption figure footer form ' +
    'h1 h2 h3 h4 h5 h6 header hr html li main nav ol p pre section summary table tbody td tfoot th thead tr ul'
  ).split(' '),
);
const NO_COUNTERPART = new Set(
  (
    'audio button canvas dl embed iframe input link math meta noscript object script select source style svg textarea ' +
    'video'
  ).split(' '),
);
const PLAIN = new Map(
  [...'⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ⁿ₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎'].map((sign, at) => [sign, [...'0123456789+-=()n0123456789+-=()'][at]!]),
);
const SHIFTED = /[⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ⁿ₀-₉₊₋₌₍₎]/g;

const normal = (text: string): string =>
  text
    .replace(SHIFTED, (sign) => PLAIN.get(sign)!)
    .replace(/\u00ad/g, '')
    .replace(/\s+/g, ' ')
    .trim();

const isElement = (node: Node): node is Element => 'tagName' in node;
const attributeOf = (element: Element, name: string): string | undefined =>
  element.attrs.find((attribute) => attribute.name === name)?.value;

/** The tree without the elements that have no counterpart in Markdown, and the number of those elements. */
export function withoutForeign(html: string): { tree: DefaultTreeAdapterTypes.DocumentFragment; left: number } {
  const tree = parseFragment(html);
  let left = 0;
  const clean = (parent: { childNodes: Node[] }): void => {
    parent.childNodes = parent.childNodes.filter((node) => {
      const kept = !isElement(node) || !NO_COUNTERPART.has(node.tagName);
      if (!kept && isElement(node) && node.tagName !== 'source' && node.tagName !== 'meta') left += 1;
      return kept && node.nodeName !== '#comment';
    });
    for (const node of parent.childNodes) if (isElement(node)) clean(node);
  };
  clean(tree);
  return { tree, left };
}

/** The position of a text in the document. */
interface Place {
  readonly list: { depth: number; ordered: boolean } | null;
  readonly item: { text: string[]; blocks: number } | null;
  readonly heading: number;
  readonly cell: string[] | null;
  readonly quotes: readonly string[][];
}

interface Piece {
  readonly text: string;
  readonly strong: boolean;
  readonly emphasis: boolean;
  readonly link: Element | null;
}

class Collector {
  readonly facts: Record<Kind, string[]> = {
    heading: [],
    paragraph: [],
    item: [],
    cell: [],
    code: [],
    quote: [],
    link: [],
    image: [],
    strong: [],
    emphasis: [],
  };
  private pieces: Piece[] = [];
  private readonly base: string;

  constructor(base: string) {
    this.base = base;
  }

  walk(nodes: readonly Node[], place: Place, marks: Omit<Piece, 'text'>, inCode = false): void {
    for (const node of nodes) {
      if (!isElement(node)) {
        if ('value' in node && node.nodeName === '#text') this.pieces.push({ ...marks, text: node.value });
      } else if (BLOCKS.has(node.tagName)) this.block(node, place, marks);
      else this.inline(node, place, marks, inCode);
    }
  }

  private inline(node: Element, place: Place, marks: Omit<Piece, 'text'>, inCode: boolean): void {
    const { tagName } = node;
    if (tagName === 'br') this.pieces.push({ ...marks, text: ' ' });
    else if (tagName === 'img') this.image(node, marks);
    else if (tagName === 'a' && isNoteMark(node)) return;
    else {
      const inside = { ...marks };
      if ((tagName === 'b' || tagName === 'strong') && !inCode) inside.strong = true;
      if ((tagName === 'i' || tagName === 'em') && !inCode) inside.emphasis = true;
      if (tagName === 'a' && attributeOf(node, 'href') !== undefined) inside.link = node;
      if (tagName === 'q') this.pieces.push({ ...inside, text: '"' });
      this.walk(node.childNodes, place, inside, inCode || /^(?:code|kbd|samp|tt)$/.test(tagName));
      if (tagName === 'q') this.pieces.push({ ...inside, text: '"' });
    }
  }

  private image(node: Element, marks: Omit<Piece, 'text'>): void {
    const source = attributeOf(node, 'src');
    if (!source) return;
    const alt = normal(canonicalAlt(attributeOf(node, 'alt') || attributeOf(node, 'title') || ''));
    this.facts.image.push(`${alt} ${canonicalUrl(source, this.base)}`);
    if (marks.link) this.pieces.push({ text: `[${alt}]`, strong: false, emphasis: false, link: marks.link });
  }

  private block(node: Element, place: Place, marks: Omit<Piece, 'text'>): void {
    this.end(place);
    const { tagName } = node;
    const inner = { ...place };
    if (tagName === 'section' && attributeOf(node, 'data-footnotes') !== undefined) {
      node.childNodes = node.childNodes.filter((child) => child.nodeName !== 'h2');
    }
    if (tagName === 'pre') {
      const text = codeText(node);
      if (text !== '') this.facts.code.push(text);
      for (const quote of place.quotes) quote.push(text);
      if (place.item) {
        place.item.text.push(text);
        place.item.blocks += 1;
      }
      place.cell?.push(text);
      return;
    }
    if (tagName === 'ul' || tagName === 'ol') {
      inner.list = { depth: (place.list?.depth ?? 0) + 1, ordered: tagName === 'ol' };
    }
    if (tagName === 'li') inner.item = { text: [], blocks: 0 };
    if (/^h[1-6]$/.test(tagName)) inner.heading = Number(tagName[1]);
    if (tagName === 'td' || tagName === 'th') inner.cell = [];
    const quote: string[] = [];
    if (tagName === 'blockquote') inner.quotes = [...place.quotes, quote];
    this.walk(node.childNodes, inner, marks);
    this.end(inner);
    this.leave(tagName, inner, quote);
  }

  private leave(tagName: string, inner: Place, quote: string[]): void {
    const { facts } = this;
    const add = (kind: Kind, text: string, head = '') => {
      if (text !== '') facts[kind].push(head + text);
    };
    if (tagName === 'blockquote') add('quote', normal(quote.join(' ')));
    if (tagName === 'li') {
      const { depth, ordered } = inner.list ?? { depth: 1, ordered: false };
      add('item', normal(inner.item!.text.join(' ')).replace(/^\^\s*/, ''), `${depth} ${ordered ? 'ol' : 'ul'} `);
    }
    if (tagName === 'td' || tagName === 'th') add('cell', normal(inner.cell!.join(' ').replaceAll('•', ' ')));
  }

  /** Closes the open text block. */
  private end(place: Place): void {
    const { pieces, facts } = this;
    this.pieces = [];
    const text = normal(pieces.map((piece) => (piece.link && /^\[.*\]$/s.test(piece.text) ? '' : piece.text)).join(''));
    this.spans(pieces);
    if (text === '') return;
    for (const quote of place.quotes) quote.push(text);
    if (place.cell) place.cell.push(text);
    else if (place.heading > 0) {
      facts.heading.push(`${place.heading} ${text}`);
      place.item?.text.push(text);
    } else {
      if (place.item) place.item.text.push(text);
      if (!place.item || place.item.blocks > 0) facts.paragraph.push(text);
    }
    if (place.item) place.item.blocks += 1;
  }

  private spans(pieces: readonly Piece[]): void {
    for (const kind of ['strong', 'emphasis'] as const) {
      let run = '';
      for (const piece of [...pieces, { text: '.', strong: false, emphasis: false, link: null }]) {
        if (piece[kind] || (run !== '' && piece.text.trim() === '')) run += piece.text;
        else {
          if (normal(run) !== '') this.facts[kind].push(normal(run));
          run = '';
        }
      }
    }
    let link: Element | null = null;
    let text = '';
    for (const piece of [...pieces, { text: '', link: null }]) {
      if (piece.link !== link) {
        if (link && normal(text) !== '') this.link(link, normal(text));
        link = piece.link;
        text = '';
      }
      text += piece.text;
    }
  }

  private link(element: Element, text: string): void {
    this.facts.link.push(`${text} ${canonicalUrl(attributeOf(element, 'href')!, this.base)}`);
  }
}

/** The text of preformatted code. Each `br` becomes a line end. */
function codeText(pre: Element): string {
  const out: string[] = [];
  const read = (nodes: readonly Node[]): void => {
    for (const node of nodes) {
      if (!isElement(node)) out.push('value' in node ? node.value : '');
      else if (node.tagName === 'br') out.push('\n');
      else read(node.childNodes);
    }
  };
  read(pre.childNodes);
  return out.join('').replace(/\r\n?/g, '\n').replaceAll('\u00a0', ' ').trimEnd();
}

const textOf = (node: Node): string =>
  isElement(node) ? node.childNodes.map(textOf).join('') : 'value' in node ? node.value : '';

/** Whether a link is a reference to a note, or leads from a note back to the text. */
function isNoteMark(anchor: Element): boolean {
  if (attributeOf(anchor, 'data-footnote-ref') !== undefined) return true;
  if (attributeOf(anchor, 'data-footnote-backref') !== undefined) return true;
  const href = attributeOf(anchor, 'href') ?? '';
  const text = textOf(anchor).trim();
  if (/#.*ref/i.test(href) && /^[\w.]{1,4}$/.test(text)) return true;
  return href.includes('#') && /^(?:\[[\w ]{1,10}\]|[↩↑^])$/.test(text);
}

export function structureOf(tree: { childNodes: Node[] }, base: string): Structure {
  const collector = new Collector(base);
  const place: Place = { list: null, item: null, heading: 0, cell: null, quotes: [] };
  const end = { nodeName: 'hr', tagName: 'hr', attrs: [], childNodes: [] } as unknown as Element;
  collector.walk([...tree.childNodes, end], place, { strong: false, emphasis: false, link: null });
  return collector.facts;
}

/** The number of facts that occur in both lists. Duplicates are matched one to one. */
export function shared(wanted: readonly string[], given: readonly string[]): number {
  const left = new Map<string, number>();
  for (const fact of wanted) left.set(fact, (left.get(fact) ?? 0) + 1);
  let count = 0;
  for (const fact of given) {
    const rest = left.get(fact) ?? 0;
    if (rest > 0) count += 1;
    left.set(fact, rest - 1);
  }
  return count;
}
