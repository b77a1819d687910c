/** Turns a chapter of an EPUB book into plain HTML, without elements that only a reading system uses. */
import { hidesText } from '#html/css/inline-style.ts';
import { decodeHtml, decodeText } from '#html/decode.ts';
import {
  type Attribute,
  append,
  attribute,
  type Child,
  COMMENT,
  type Document,
  detach,
  ELEMENT,
  type Element,
  elements,
  find,
  following,
  setAttribute,
  textOf,
  unwrap,
} from '#html/node.ts';
import { parseDocument, parseFragment } from '#html/parse.ts';
import { innerHtml } from '#html/serialize.ts';
import { safeHref } from '../office/inline.ts';

export interface ChapterContext {
  /** Counted from 1. */
  readonly number: number;
  /** Returns the HTML of an image by its reference: the image itself, or its alt text. */
  readonly picture: (reference: string, alternative: string) => string;
}

export interface ChapterHtml {
  readonly html: string;
  /** Its first heading, else the title that it declares; '' if it has neither. */
  readonly title: string;
  readonly hiddenCount: number;
}

const REMOVED: ReadonlySet<string> = new Set(
  'script style link meta base title template iframe object embed audio video canvas form input button select textarea noscript desc defs metadata'.split(
    ' ',
  ),
);

/** Attributes that carry meaning. MathML elements keep all attributes except scripts. */
const KEPT: ReadonlySet<string> = new Set('alt colspan rowspan start value reversed lang dir'.split(' '));

export function chapterHtml(bytes: Uint8Array, context: ChapterContext): ChapterHtml {
  const source = /^\s*<\?xml/.test(Buffer.from(bytes.subarray(0, 64)).toString('latin1'))
    ? decodeText(bytes).text
    : decodeHtml(bytes).text;
  const document = parseDocument(expandEmptyTags(source));
  const body = find(document, 'body');
  const title = plainText(find(document, 'title'));
  if (!body) return { html: '', title, hiddenCount: 0 };
  const hiddenCount = clean(body, context);
  return { html: innerHtml(body).trim(), title: plainText(firstHeading(body)) || title, hiddenCount };
}

const plainText = (element: Element | null): string => (element ? textOf(element).replace(/\s+/g, ' ').trim() : '');

/** In many books, the title element of every chapter is the title of the book. */
function firstHeading(body: Element): Element | null {
  for (const element of elements(body)) if (/^h[1-4]$/.test(element.name)) return element;
  return null;
}

const VOID = /^(?:area|base|br|col|embed|hr|img|input|link|meta|param|source|track|wbr)$/i;

/** `<a id="x"/>` is an empty element in XML, but a start tag in HTML. */
const expandEmptyTags = (source: string): string =>
  source.replace(/<([a-z][\w:.-]*)(\s[^<>]*)?\/>/gi, (tag, name: string, attributes: string = '') =>
    VOID.test(name) ? tag : `<${name}${attributes}></${name}>`,
  );

/** Returns the number of invisible pieces that were removed. */
function clean(body: Element, context: ChapterContext): number {
  let hidden = 0;
  let node: Child | null = following(body, body);
  while (node) {
    const after = following(node, body, true);
    if (node.type === COMMENT) detach(node);
    else if (node.type !== ELEMENT) {
      node = following(node, body);
      continue;
    } else if (REMOVED.has(node.name) || isAid(node)) detach(node);
    else if (isHidden(node)) {
      hidden += 1;
      detach(node);
    } else if (node.name === 'img' || node.name === 'image') replacePicture(node, context);
    else {
      const next: Child | null = following(node, body);
      const inside = node.first;
      if (cleanElement(node, context)) node = next;
      else {
        unwrap(node);
        node = inside ?? after;
      }
      continue;
    }
    node = after;
  }
  return hidden;
}

const epubTypes = (element: Element): readonly string[] =>
  (attribute(element, 'epub:type') ?? '').split(/\s+/).filter((type) => type !== '');

/** Lists that a reading system uses to go to places in the book. Its table of contents is text as well. */
const isAid = (element: Element): boolean =>
  element.name === 'nav' && epubTypes(element).some((type) => /^(?:landmarks|page-list)$/.test(type));

const isHidden = (element: Element): boolean =>
  attribute(element, 'hidden') !== null || hidesText(attribute(element, 'style') ?? '');

function replacePicture(image: Element, { picture }: ChapterContext): void {
  const reference = attribute(image, 'src') ?? attribute(image, 'xlink:href') ?? attribute(image, 'href') ?? '';
  const fragment: Document = parseFragment(picture(reference, attribute(image, 'alt') ?? ''));
  const holder = image;
  holder.name = 'span';
  holder.namespace = 'html';
  holder.attributes = [];
  while (holder.first) detach(holder.first);
  while (fragment.first) append(holder, fragment.first);
  unwrap(holder);
}

/** Removes attributes that carry no meaning from an element. Returns false if the element should be unwrapped. */
function cleanElement(element: Element, { number }: ChapterContext): boolean {
  const isNoteReference = epubTypes(element).includes('noteref') || attribute(element, 'role') === 'doc-noteref';
  const id = attribute(element, 'id') ?? attribute(element, 'name');
  const href = attribute(element, 'href');
  const classes = attribute(element, 'class') ?? '';
  element.attributes = element.attributes.filter((entry) => isKept(element, entry));
  if (id) setAttribute(element, 'id', localId(number, id));
  const language = /(?:^|\s)((?:language|lang)-[\w+#-]{1,40})/.exec(classes)?.[1];
  if (language && (element.name === 'code' || element.name === 'pre')) setAttribute(element, 'class', language);
  // A table of contents is not the navigation of a web page.
  if (element.namespace === 'svg' || element.name === 'nav') return false;
  if (element.name !== 'a') return true;
  const target = href?.startsWith('#') ? `#${localId(number, href.slice(1))}` : safeHref(href ?? '');
  if (target === undefined) return id !== null && id !== '';
  setAttribute(element, 'href', target);
  if (isNoteReference) setAttribute(element, 'role', 'doc-noteref');
  return true;
}

const isKept = (element: Element, { name }: Attribute): boolean =>
  element.namespace === 'math' ? !/^on|href|style|class|^id$/i.test(name) : KEPT.has(name);

/** Chapters become pages of one document, so ids are prefixed with the chapter number. */
const localId = (number: number, id: string): string => `c${number}-${id.replace(/\s+/g, '-')}`;
