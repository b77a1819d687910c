/**
 * Extracts the text of an SVG image. The image is parsed like inline SVG of a web page: custom entities are ignored,
 * and scripts do not run.
 */
import { decodeText } from '#html/decode.ts';
import { attribute, children, type Element, find, following, isElement, type Node, TEXT } from '#html/node.ts';
import { parseFragment } from '#html/parse.ts';
import { escapeText } from '#html/serialize.ts';
import { DocumentError, type ParsedDocument } from '../document.ts';

const MAX_BYTES = 32 * 1024 * 1024;
/** Elements whose text is not part of the image, is shown elsewhere, or is never shown. */
const LEFT_OUT = new Set([
  'style',
  'script',
  'defs',
  'metadata',
  'title',
  'desc',
  'clipPath',
  'mask',
  'marker',
  'pattern',
]);

export function parseSvg(bytes: Uint8Array, contentType: string | undefined): ParsedDocument {
  if (bytes.length > MAX_BYTES) throw new DocumentError('too large', 'The SVG image is larger than 32 MiB');
  const root = find(parseFragment(withoutRawText(decodeText(bytes, contentType).text)), 'svg');
  if (!root) throw new DocumentError('damaged', 'The file is not an SVG image');
  const title = wordsOf(childNamed(root, 'title'));
  const description = wordsOf(childNamed(root, 'desc'));
  const { paragraphs, hiddenCount } = textsOf(root);
  const shown = [description, ...paragraphs].filter((text) => text !== '');
  return {
    title,
    pages: [{ number: 1, html: shown.map((text) => `<p>${escapeText(text)}</p>`).join('\n') }],
    metadata: { format: 'SVG', ...sizeOf(root) },
    lang: attribute(root, 'lang') ?? attribute(root, 'xml:lang') ?? undefined,
    notes: [],
    hiddenCount,
  };
}

/** Raw-text elements that XML closes with `/>`. An HTML parser would treat the rest of the file as their content. */
const EMPTY_RAW_TEXT =
  /<(?:textarea|title|style|script|iframe|noembed|noframes|xmp)\b[^<>]*\/>|<\/?plaintext\b[^<>]*>/gi;

const withoutRawText = (source: string): string =>
  /<foreignObject\b/i.test(source) ? source.replace(EMPTY_RAW_TEXT, ' ') : source;

const sizeOf = (root: Element): Record<string, string> =>
  Object.fromEntries(
    ['width', 'height', 'viewBox'].flatMap((name) => {
      const value = attribute(root, name)?.trim().slice(0, 100);
      return value ? [[name, value]] : [];
    }),
  );

function childNamed(parent: Element, name: string): Element | undefined {
  for (const child of children(parent)) if (isElement(child) && child.name === name) return child;
  return undefined;
}

/** Returns a paragraph for each separately positioned text. */
function textsOf(root: Element): { paragraphs: string[]; hiddenCount: number } {
  const paragraphs: string[] = [];
  let hiddenCount = 0;
  let skip = false;
  for (let node = following(root, root); node; node = following(node, root, skip)) {
    skip = false;
    if (!isElement(node)) continue;
    if (isHidden(node)) {
      hiddenCount++;
      skip = true;
    } else if (LEFT_OUT.has(node.name)) skip = true;
    else if (node.name === 'text' || node.name === 'foreignObject') {
      paragraphs.push(wordsOf(node));
      skip = true;
    }
  }
  return { paragraphs: paragraphs.filter((text) => text !== ''), hiddenCount };
}

const isHidden = (element: Element): boolean =>
  attribute(element, 'display') === 'none' ||
  attribute(element, 'visibility') === 'hidden' ||
  /(?:^|[;\s])(?:display\s{0,5}:\s{0,5}none|visibility\s{0,5}:\s{0,5}hidden)/.test(
    attribute(element, 'style')?.slice(0, 2_000) ?? '',
  );

/** The text under a node in one line, with spaces between repositioned pieces. */
function wordsOf(top: Element | undefined): string {
  if (!top) return '';
  const pieces: string[] = [];
  let skip = false;
  for (let node: Node | null = following(top, top); node; node = following(node, top, skip)) {
    skip = isElement(node) && (LEFT_OUT.has(node.name) || isHidden(node));
    if (node.type === TEXT) pieces.push(node.value);
    else if (isElement(node) && (node.namespace === 'html' || isPlaced(node))) pieces.push(' ');
  }
  return pieces.join('').replace(/\s+/g, ' ').trim();
}

const isPlaced = (element: Element): boolean =>
  ['x', 'y', 'dy'].some((name) => attribute(element, name) !== null) || element.name === 'textPath';
