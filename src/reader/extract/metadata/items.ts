/** Microdata and RDFa properties: their values, and whether they describe the page. */
import { attribute, type Element, following, isElement, type Node } from '#html/node.ts';
import { shortText } from './byline.ts';

/** Maximum number of ancestors that are checked. */
const MAX_LEVELS = 60;

/** Whether the element or an ancestor passes the test. */
export function isOrIsInside(element: Element, test: (above: Element) => boolean): boolean {
  let node: Node | null = element;
  for (let level = 0; isElement(node) && level < MAX_LEVELS; level++) {
    if (test(node)) return true;
    node = node.parent;
  }
  return false;
}

const UNRELATED_TYPE = /\/(?:UserComments|Comment|Answer|Review|ListItem|BreadcrumbList|WPSideBar|WPFooter)$/;
const UNRELATED_PROPERTY =
  /^(?:comment|review|itemListElement|blogPost|blogPosts|hasPart|isRelatedTo|acceptedAnswer|suggestedAnswer)$/;

/** Whether a property belongs to a comment, an answer or a list entry. */
const isUnrelated = (item: Element): boolean =>
  isOrIsInside(
    item,
    (above) =>
      UNRELATED_TYPE.test((attribute(above, 'itemtype') ?? '').slice(0, 200)) ||
      UNRELATED_PROPERTY.test(attribute(above, 'itemprop') ?? ''),
  );

function scopeOf(item: Element): Element | null {
  let node: Node | null = item.parent;
  for (let level = 0; isElement(node) && level < MAX_LEVELS; level++) {
    if (node.attributes.some(({ name }) => name === 'itemscope' || name === 'typeof')) return node;
    node = node.parent;
  }
  return null;
}

/**
 * Returns the elements with properties that describe the page; empty if several things on the page have the same
 * property, as in a listing. In a thread, the first one is used, because it is the thread's topic.
 */
export function pageItems(items: readonly Element[], isThread: boolean): Element[] {
  const own = items.filter((item) => !isUnrelated(item));
  const scopes = new Set(own.map(scopeOf));
  if (scopes.size > 1 || (scopes.has(null) && own.length > 1)) return isThread ? own.slice(0, 1) : [];
  return own;
}

const MAX_NODES_FOR_NAME = 50;

/** The value of a property: its attribute, the name of its item, or its text. */
export function itemValue(item: Element): { value: string; isText: boolean } {
  const value = attribute(item, 'content') || attribute(item, 'datetime') || attribute(item, 'src');
  if (value) return { value, isText: false };
  let source = item;
  let node: Node | null = attribute(item, 'itemscope') === null ? null : following(item, item);
  for (let count = 0; node && count < MAX_NODES_FOR_NAME; count++, node = following(node, item)) {
    if (!isElement(node) || attribute(node, 'itemprop') !== 'name') continue;
    source = node;
    break;
  }
  const text = attribute(source, 'content') || shortText(source) || attribute(source, 'href') || '';
  return { value: text, isText: true };
}
