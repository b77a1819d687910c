/**
 * Videos, audio recordings, player frames and their placeholders. Each kind is numbered in output order
 * (docs/reference/wire/reader.md, Media).
 */
import { type Attribute, append, attribute, children, ELEMENT, Element, Text, textOf } from '#html/node.ts';
import { escapeAttribute, outerHtml } from '#html/serialize.ts';
import { isUrl } from '#is-url.ts';
import { resolveUrl } from '../../extract/content/links.ts';
import { withoutControlCharacters } from '../one-line.ts';
import { type MediaKind, placeholderUrl, playerKind } from '../players.ts';
import { type ConversionState, type EnterHandler, SKIP } from '../state.ts';
import { encodeDestination } from '../url.ts';
import { anchor } from './link.ts';

interface Media {
  readonly kind: MediaKind;
  /** Absolute http(s) URL; null if the page has none. */
  readonly url: string | null;
}

/** Handles elements with children that are a fallback for browsers without support for the element. */
export const media: EnterHandler = (state, element) => {
  write(state, element);
  return SKIP;
};

/** Handles elements that show their children unless a script replaces them with a player. */
export const playerPlaceholder: EnterHandler = (state, element) => (write(state, element) ? SKIP : null);

function write(state: ConversionState, element: Element): boolean {
  const markdown = mediaText(state, element, 'markdown');
  const file = markdown ? null : fileLink(state, element);
  if (!markdown && !file) return false;
  state.inline.gap();
  if (file) writeLink(state, file);
  else state.inline.raw(markdown);
  state.inline.gap();
  return true;
}

/** Files that browsers show in a frame of the page. */
const FILE = /\.(?:pdf|docx?|xlsx?|pptx?|odt|ods|odp|epub)$/i;
const FRAMES = new Set(['embed', 'iframe', 'object']);

/** A link to the file that an element shows; null if it shows none, or has text of its own for readers without it. */
function fileLink({ options, inline }: ConversionState, element: Element): Element | null {
  if (!FRAMES.has(element.name) || options.retainLinks === 'none' || inline.isOpen('link')) return null;
  const url = urlOf(element, options.baseUrl);
  if (url === null || !isUrl(url)) return null;
  const { pathname } = new URL(url);
  const isFile = FILE.test(pathname) || attribute(element, 'type')?.trim().toLowerCase() === 'application/pdf';
  if (!isFile || textOf(element).trim() !== '') return null;
  const title = attribute(element, 'title')?.trim();
  const link = new Element('a', 'html', [{ name: 'href', value: url }]);
  append(link, new Text(title || decoded(pathname.slice(pathname.lastIndexOf('/') + 1)) || url));
  return link;
}

function decoded(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}

function writeLink(state: ConversionState, link: Element): void {
  // Citations are numbered by the links of the page, and this is none of them.
  const leave = state.options.retainLinks === 'gpt-oss' ? null : anchor(state, link);
  state.inline.text(state.clean(textOf(link)));
  if (leave !== SKIP) leave?.(state, link);
}

const keepsMedia = ({ options }: ConversionState) =>
  options.retainMedia !== undefined && options.retainMedia !== 'none';

/** A medium in the form that the options select, in Markdown or inside HTML; '' if it is omitted. */
export function mediaText(state: ConversionState, element: Element, form: 'markdown' | 'html'): string {
  if (!keepsMedia(state)) return '';
  const found = mediaOf(element, state.options.baseUrl);
  if (!found) return '';
  const { kind, url } = found;
  const label = `${kind} ${kind === 'Video' ? ++state.videos : ++state.audios}`;
  const mode = state.options.retainMedia;
  if (mode === 'html') return cleanElement(element, url, state.options.baseUrl);
  if (url === null || mode === 'text') return label;
  if (form === 'html') return `<a href="${escapeAttribute(url)}">${label}</a>`;
  if (mode === 'link' && state.inline.isOpen('link')) return label;
  return `${mode === 'image' ? '!' : ''}[${label}](${encodeDestination(withoutControlCharacters(url))})`;
}

function mediaOf(element: Element, baseUrl: string): Media | null {
  const { name } = element;
  if (name === 'video' || name === 'amp-video') return { kind: 'Video', url: sourceOf(element, baseUrl) };
  if (name === 'audio' || name === 'amp-audio') {
    const url = sourceOf(element, baseUrl);
    // Browsers do not show audio without controls. If it has no URL either, it is a sound effect of the page.
    return url === null && attribute(element, 'controls') === null ? null : { kind: 'Audio', url };
  }
  const url = placeholderUrl(element) ?? urlOf(element, baseUrl);
  const kind = url === null ? null : playerKind(url);
  return kind && { kind, url };
}

/** The URL of the element, else that of its first source. */
function sourceOf(element: Element, baseUrl: string): string | null {
  const own = urlOf(element, baseUrl);
  if (own !== null) return own;
  for (const child of children(element)) {
    const url = child.type === ELEMENT && child.name === 'source' ? urlOf(child, baseUrl) : null;
    if (url !== null) return url;
  }
  return null;
}

/** Attributes with URLs. Those at the end of the list are used by lazy-loading scripts. */
const URL_ATTRIBUTES = [
  'src',
  'data',
  'data-src',
  'data-lazy-src',
  'data-original',
  'data-litespeed-src',
  'data-cmp-src',
];

function urlOf(element: Element, baseUrl: string): string | null {
  for (const name of URL_ATTRIBUTES) {
    const address = attribute(element, name)?.trim();
    const url = address ? resolveUrl(address, baseUrl) : null;
    if (url !== null && /^https?:/.test(url)) return url;
  }
  return null;
}

/** Attributes that are irrelevant to readers, or that could run code. */
const DROPPED = /^(?:class|id|style|srcdoc|srcset|nonce|slot|data|data-.*|aria-.*|on.*)$/;
const ATTRIBUTE_NAME = /^[a-z][a-z-]*$/;
/** Attributes that a placeholder has in common with the frame of its player. */
const SHARED = new Set(['title', 'width', 'height']);
const URL_ATTRIBUTE_NAMES = new Set(['src', 'poster', 'href']);

/**
 * The element as HTML on one line: the URL first, other attributes sanitized, and of its children only sources and
 * tracks.
 */
function cleanElement(element: Element, url: string | null, baseUrl: string): string {
  // A placeholder is meaningless without its script.
  const isOwn = /^(?:video|audio|iframe|embed|object)$/.test(element.name);
  const name = isOwn && element.name !== 'object' ? element.name : nameFor(element);
  const own = attribute(element, 'src')?.trim() ? url : null;
  const copy = new Element(name, 'html', cleanAttributes(element, isMedium(name) ? own : url, baseUrl));
  if (isMedium(name)) {
    for (const child of children(element)) {
      if (child.type !== ELEMENT || (child.name !== 'source' && child.name !== 'track')) continue;
      const address = urlOf(child, baseUrl);
      if (address === null) continue;
      const part = new Element(child.name, 'html', cleanAttributes(child, address, baseUrl));
      append(copy, part);
    }
    if (own === null && !copy.first && url !== null) copy.attributes.unshift({ name: 'src', value: url });
  }
  return outerHtml(copy);
}

const isMedium = (name: string) => name === 'video' || name === 'audio';
const nameFor = ({ name }: Element) => (name === 'amp-video' ? 'video' : name === 'amp-audio' ? 'audio' : 'iframe');

function cleanAttributes(element: Element, url: string | null, baseUrl: string): Attribute[] {
  const kept: Attribute[] = url === null ? [] : [{ name: 'src', value: withoutControlCharacters(url) }];
  const isPlaceholder = placeholderUrl(element) !== null;
  for (const { name, value } of element.attributes) {
    if (isPlaceholder && !SHARED.has(name)) continue;
    if (name === 'src' || DROPPED.test(name) || !ATTRIBUTE_NAME.test(name)) continue;
    const address = URL_ATTRIBUTE_NAMES.has(name) ? resolveUrl(value, baseUrl) : '';
    if (address === null || (address !== '' && !/^https?:/.test(address))) continue;
    kept.push({ name, value: address || withoutControlCharacters(value).replace(/\s+/g, ' ') });
  }
  return kept;
}
