/**
 * Puts the pictures into the tree that a page only shows with its scripts, or only without them: AMP components become
 * the elements that they stand for, and the pictures in `noscript` replace the placeholders beside them.
 */
import {
  append,
  attribute,
  type Child,
  children,
  type Document,
  detach,
  ELEMENT,
  Element,
  following,
  insertBefore,
  setAttribute,
  TEXT,
  Text,
} from '#html/node.ts';
import { lacksPicture, writtenUrl } from '../content/image-source.ts';

/** Changes the tree in place. A second call changes nothing. */
export function completePictures(document: Document): void {
  const noscripts: Element[] = [];
  let node = following(document, document);
  for (; node; node = following(node, document)) {
    if (node.type !== ELEMENT) continue;
    if (node.name === 'noscript') noscripts.push(node);
    else if (node.name === 'amp-img' || node.name === 'amp-anim') becomeImage(node);
    else if (node.name.startsWith('amp-')) linkPost(node);
  }
  for (const noscript of noscripts) placePicture(noscript);
}

/** What is inside is a placeholder, or a fallback for clients without AMP. */
function becomeImage(element: Element): void {
  element.name = 'img';
  for (const child of [...children(element)]) detach(child);
}

/** AMP components for a post on another site: the attribute that names it, and the start of its URL. */
const POSTS = new Map([
  ['amp-twitter', { attribute: 'data-tweetid', url: 'https://twitter.com/i/status/' }],
  ['amp-instagram', { attribute: 'data-shortcode', url: 'https://www.instagram.com/p/' }],
]);

/** A component without text becomes a link to its post, because nothing else of it can be read. */
function linkPost(element: Element): void {
  const post = POSTS.get(element.name);
  const id = post && attribute(element, post.attribute)?.trim();
  if (!id || !/^[\w-]{1,64}$/.test(id) || hasText(element)) return;
  const url = post.url + id;
  const link = new Element('a', 'html', [{ name: 'href', value: url }]);
  append(link, new Text(url));
  append(element, link);
}

function hasText(element: Element): boolean {
  for (let node = following(element, element); node; node = following(node, element)) {
    if (node.type === TEXT && /\S/.test(node.value)) return true;
  }
  return false;
}

/** Elements in which a `noscript` may wrap its picture. */
const WRAPPERS = new Set(['picture', 'figure', 'a', 'p', 'div', 'span', 'source']);
const MAX_NODES = 40;

/** The picture of a `noscript` replaces the placeholder beside it. Without one, it takes the place of the `noscript`. */
function placePicture(noscript: Element): void {
  const image = pictureIn(noscript);
  if (!image || lacksPicture(image)) return;
  const beside = imageBeside(noscript);
  if (!beside) {
    if (isShown(image)) insertBefore(image, noscript);
    return;
  }
  if (!lacksPicture(beside)) return;
  setAttribute(beside, 'src', writtenUrl(image));
  for (const name of ['alt', 'title']) {
    const value = attribute(image, name);
    if (value && !attribute(beside, name)) setAttribute(beside, name, value);
  }
}

/** The image that makes up a `noscript`; null if it has other content. */
function pictureIn(noscript: Element): Element | null {
  let image: Element | null = null;
  let node = following(noscript, noscript);
  for (let steps = 0; node; node = following(node, noscript)) {
    if (++steps > MAX_NODES || (node.type === TEXT && /\S/.test(node.value))) return null;
    if (node.type !== ELEMENT) continue;
    if (node.name === 'img' && !image) image = node;
    else if (!WRAPPERS.has(node.name)) return null;
  }
  return image;
}

/** The image directly before or after an element, or the only one inside the sibling there. */
function imageBeside(element: Element): Element | null {
  return imageAt(neighbor(element, 'prev')) ?? imageAt(neighbor(element, 'next'));
}

function neighbor(element: Element, direction: 'prev' | 'next'): Element | null {
  let node: Child | null = element[direction];
  while (node && (node.type === TEXT ? !/\S/.test(node.value) : node.type !== ELEMENT)) node = node[direction];
  return node?.type === ELEMENT ? node : null;
}

function imageAt(element: Element | null): Element | null {
  if (!element || element.name === 'img') return element;
  if (!WRAPPERS.has(element.name)) return null;
  let found: Element | null = null;
  let node = following(element, element);
  for (let steps = 0; node; node = following(node, element)) {
    if (++steps > MAX_NODES) return null;
    if (node.type !== ELEMENT || node.name !== 'img') continue;
    if (found) return null;
    found = node;
  }
  return found;
}

const PICTURE_FILE = /\.(?:jpe?g|png|gif|webp|avif|svg|bmp)(?:[?#]|$)/i;

/** Whether a picture is meant to be seen. Most pictures in `noscript` count visitors. */
function isShown(image: Element): boolean {
  const isTiny = (name: string) => /^\s*[01](?:px)?\s*$/.test(attribute(image, name) ?? '');
  if (isTiny('width') || isTiny('height') || attribute(image, 'hidden') !== null) return false;
  const style = (attribute(image, 'style') ?? '').slice(0, 1_000);
  if (/display\s*:\s*none|visibility\s*:\s*hidden|position\s*:\s*absolute/i.test(style)) return false;
  return (attribute(image, 'alt') ?? '').trim() !== '' || PICTURE_FILE.test(writtenUrl(image).slice(0, 2_000));
}
