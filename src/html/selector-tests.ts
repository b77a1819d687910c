/**
 * Tests of one element against the simplest parts of a selector: name, attribute, pseudo-class. Each test is cheap,
 * and its cost does not grow with the length or depth of a page.
 */
import type { AttributeSelector } from 'css-what';
import { attribute, DOCUMENT, ELEMENT, type Element, hasAttribute, type Node, type Parent, TEXT } from './node.ts';

/**
 * Counters for the children of one parent, which are walked in order. A root without a parent is treated as an only
 * child.
 */
export interface SiblingCounts {
  readonly parent: Parent | null;
  /** Position of the current child among the elements, from 1, and among those of its type. */
  index: number;
  typeIndex: number;
  /** Number of matches so far for each list that an `:nth-child(... of ...)` counts. */
  readonly counts: number[];
  add(element: Element): void;
  /** Number of all sibling elements, or of those with the current child's type. */
  total(ofType: boolean): number;
}

/** The current element and all inputs of a test. */
export interface TestContext {
  element: Element;
  siblings: SiblingCounts;
  /** The node that `:scope` matches. */
  readonly scope: Node;
  /** For each list, whether the element matches it. Inner lists are evaluated before the tests that use them. */
  readonly results: Uint8Array;
  /** For each `:has()`, the elements for which it is true. */
  readonly has: readonly ReadonlySet<Element>[];
  readonly work: { left: number };
}

export type ElementTest = (at: TestContext) => boolean;

export function createSiblingCounts(parent: Parent | null, counters: number): SiblingCounts {
  const seen = new Map<string, number>();
  let totals: Map<string, number> | null = null;
  let all = 0;
  let present = '';
  const countAll = (): Map<string, number> => {
    const found = new Map<string, number>();
    all = parent ? 0 : 1;
    for (let node = parent?.first; node; node = node.next) {
      if (node.type !== ELEMENT) continue;
      all++;
      const type = typeOf(node);
      found.set(type, (found.get(type) ?? 0) + 1);
    }
    return found;
  };
  return {
    parent,
    index: 0,
    typeIndex: 0,
    counts: new Array<number>(counters).fill(0),
    add(element) {
      present = typeOf(element);
      this.index++;
      this.typeIndex = (seen.get(present) ?? 0) + 1;
      seen.set(present, this.typeIndex);
    },
    total(ofType) {
      totals ??= countAll();
      return ofType ? (totals.get(present) ?? 1) : all;
    },
  };
}

const typeOf = (element: Element): string =>
  element.namespace === 'html' ? element.name : `${element.namespace} ${element.name}`;

/**
 * Tests an element's name. The test is case-insensitive even for SVG and MathML, which is more lenient than the
 * standard.
 */
export function createNameTest(name: string): ElementTest {
  const lower = name.toLowerCase();
  return ({ element }) =>
    element.name === lower || (element.namespace !== 'html' && element.name.toLowerCase() === lower);
}

/** Attributes with case-insensitive values in HTML (HTML standard, "Case-sensitivity of selectors"). */
const ANY_CASE = new Set(
  (
    'accept accept-charset align alink axis bgcolor charset checked clear codetype color compact declare defer dir ' +
    'direction disabled enctype face frame hreflang http-equiv lang language link media method multiple nohref ' +
    'noresize noshade nowrap readonly rel rev rules scope scrolling selected shape target text type valign valuetype ' +
    'vlink'
  ).split(' '),
);

export function createAttributeTest(selector: AttributeSelector): ElementTest {
  const name = selector.name.toLowerCase();
  if (selector.action === 'exists') return ({ element }) => hasAttribute(element, name);
  const anyCase = selector.ignoreCase === true || (selector.ignoreCase === null && ANY_CASE.has(name));
  const wanted = anyCase ? selector.value.toLowerCase() : selector.value;
  const holds = VALUES[selector.action](wanted);
  return ({ element, work }) => {
    const value = attribute(element, name);
    if (value === null) return false;
    work.left -= value.length >> 4;
    return holds(anyCase ? value.toLowerCase() : value);
  };
}

type Action = Exclude<`${AttributeSelector['action']}`, 'exists'>;

/**
 * For each attribute operator, creates the test of an attribute's value from the value in the selector. An empty
 * substring matches nothing.
 */
const VALUES: Record<Action, (wanted: string) => (value: string) => boolean> = {
  equals: (wanted) => (value) => value === wanted,
  not: () => () => false,
  hyphen: (wanted) => (value) => value === wanted || value.startsWith(`${wanted}-`),
  start: (wanted) => (value) => wanted !== '' && value.startsWith(wanted),
  end: (wanted) => (value) => wanted !== '' && value.endsWith(wanted),
  any: (wanted) => (value) => wanted !== '' && value.includes(wanted),
  element: (wanted) => (value) => wanted !== '' && !/\s/.test(wanted) && hasWord(value, wanted),
};

const WHITE = /[\t\n\f\r ]/;

function hasWord(value: string, word: string): boolean {
  for (let at = value.indexOf(word); at >= 0; at = value.indexOf(word, at + 1)) {
    const end = at + word.length;
    if ((at === 0 || WHITE.test(value[at - 1]!)) && (end === value.length || WHITE.test(value[end]!))) return true;
  }
  return false;
}

const CAN_DISABLE = new Set(['button', 'input', 'select', 'textarea', 'optgroup', 'option', 'fieldset']);
const CAN_REQUIRE = new Set(['input', 'select', 'textarea']);

/** Pseudo-classes without an argument. */
export const PSEUDO_CLASSES: Readonly<Record<string, ElementTest>> = {
  'first-child': ({ siblings }) => siblings.index === 1,
  'last-child': ({ siblings }) => siblings.index === siblings.total(false),
  'only-child': ({ siblings }) => siblings.total(false) === 1,
  'first-of-type': ({ siblings }) => siblings.typeIndex === 1,
  'last-of-type': ({ siblings }) => siblings.typeIndex === siblings.total(true),
  'only-of-type': ({ siblings }) => siblings.total(true) === 1,
  root: ({ element }) => isRoot(element),
  scope: ({ element, scope }) => (scope.type === DOCUMENT ? isRoot(element) : element === scope),
  empty: ({ element }) => isEmpty(element),
  'any-link': ({ element }) => isLink(element),
  link: ({ element }) => isLink(element),
  checked: ({ element }) => isChecked(element),
  disabled: ({ element }) => CAN_DISABLE.has(element.name) && hasAttribute(element, 'disabled'),
  enabled: ({ element }) => CAN_DISABLE.has(element.name) && !hasAttribute(element, 'disabled'),
  required: ({ element }) => CAN_REQUIRE.has(element.name) && hasAttribute(element, 'required'),
  optional: ({ element }) => CAN_REQUIRE.has(element.name) && !hasAttribute(element, 'required'),
};

/** Pseudo-classes that describe the state of a live page: in a parsed page they match nothing. */
export const LIVE_PSEUDO_CLASSES: ReadonlySet<string> = new Set([
  'active',
  'autofill',
  'focus',
  'focus-visible',
  'focus-within',
  'fullscreen',
  'hover',
  'target',
  'target-within',
  'user-invalid',
  'user-valid',
  'visited',
]);

const isRoot = (element: Element): boolean => element.parent?.type === DOCUMENT;

function isEmpty(element: Element): boolean {
  for (let node = element.first; node; node = node.next) {
    if (node.type === ELEMENT || (node.type === TEXT && node.value !== '')) return false;
  }
  return true;
}

const isLink = (element: Element): boolean =>
  (element.name === 'a' || element.name === 'area') && element.namespace === 'html' && hasAttribute(element, 'href');

function isChecked(element: Element): boolean {
  if (element.name === 'option') return hasAttribute(element, 'selected');
  if (element.name !== 'input' || !hasAttribute(element, 'checked')) return false;
  const type = attribute(element, 'type')?.toLowerCase();
  return type === 'checkbox' || type === 'radio';
}

/** Parses `An+B` to a test of positions, counted from 1; null if the text is not such a formula. */
export function parseNth(text: string): ((place: number) => boolean) | null {
  const formula = text.trim().toLowerCase();
  if (formula === 'odd') return (place) => place % 2 === 1;
  if (formula === 'even') return (place) => place % 2 === 0;
  if (/^[+-]?\d+$/.test(formula)) return (place) => place === Number(formula);
  const parts = /^([+-]?\d*)n(?:\s*([+-])\s*(\d+))?$/.exec(formula);
  if (!parts) return null;
  const [, factor = '', sign = '+', offset = '0'] = parts;
  const every = /\d/.test(factor) ? Number(factor) : factor === '-' ? -1 : 1;
  const first = sign === '-' ? -Number(offset) : Number(offset);
  return (place) => {
    if (every === 0) return place === first;
    const times = (place - first) / every;
    return times >= 0 && Number.isInteger(times);
  };
}
