/**
 * Recognizes hidden parts that a visitor opens with a control on the page: the panels of tabs, accordions and "read
 * more" buttons. They are content of the page, so they are kept.
 *
 * A part is such a panel if a control refers to it (WAI-ARIA Authoring Practices: tabs, accordion and disclosure
 * patterns; the data attributes are those of Bootstrap) or if its names say so (reveal-names.ts).
 */
import { attribute, type Document, ELEMENT, type Element, following, type Node, TEXT } from '#html/node.ts';
import { isOrder } from './notable.ts';
import { mayBeRevealed } from './reveal-names.ts';

/** Attributes by which a control names the part that it opens: by id, or by a selector of an id. */
const REFERENCES = new Set(['aria-controls', 'data-target', 'data-bs-target', 'data-controls']);
/** Elements that are opened on top of the page, or that hold its menus. */
const OVERLAYS = new Set(['nav', 'dialog', 'form', 'header', 'footer']);
const OVERLAY_ROLES =
  /^(?:dialog|alertdialog|alert|status|menu|menubar|listbox|tooltip|navigation|search|banner|contentinfo)$/;
const OVERLAY_NAMES =
  /modal|dialog|popup|pop-up|overlay|lightbox|drawer|off-?canvas|(?:^|[\s_-])(?:nav(?:bar)?|menu|mega-?menu|cookies?|consent|cart|search|login|sign-?in|tooltip|popover)(?:[\s_-]|$)/i;

export interface Disclosures {
  /** Whether the hidden element is a panel that a visitor can open, judged by its controls and its names. */
  isPanel(element: Element): boolean;
  /** The same, judged only by its controls. */
  isControlled(element: Element): boolean;
}

/** Finds the references of controls when the first part is asked for. */
export function createDisclosures(document: Document): Disclosures {
  let controls: Controls | undefined;
  const isNamed = (element: Element): boolean => {
    controls ??= findControls(document);
    if (controls.followers.has(element)) return true;
    const id = controls.ids.size > 0 ? attribute(element, 'id') : null;
    return id !== null && controls.ids.has(id);
  };
  return {
    isPanel: (element) =>
      !isOverlay(element) && (mayBeRevealed(element, 'display') || isNamed(element)) && !isOrder(element),
    isControlled: (element) => isNamed(element) && !isOverlay(element) && !isOrder(element),
  };
}

/** Levels of elements around a control that contain it and little else, such as a heading or a term. */
const MAX_LEVELS = 4;
const MAX_CONTROL_NODES = 20;

/**
 * The elements directly after a closed control, or after the heading or term that consists of it: the answer after its
 * question. Many pages leave out the reference from the control to its panel.
 */
function* followersOf(control: Element): Generator<Element> {
  let holder: Element = control;
  for (let level = 0; level < MAX_LEVELS && isSmall(holder); level++) {
    const follower = elementAfter(holder);
    if (follower && !namesOther(control, follower)) yield follower;
    if (holder.parent?.type !== ELEMENT) return;
    holder = holder.parent;
  }
}

function isSmall(element: Element): boolean {
  let nodes = 0;
  for (let node: Node | null = element; node; node = following(node, element))
    if (++nodes > MAX_CONTROL_NODES) return false;
  return true;
}

/** The next element; null if text is between. */
function elementAfter(element: Element): Element | null {
  let node = element.next;
  while (node && node.type !== ELEMENT) {
    if (node.type === TEXT && /\S/.test(node.value)) return null;
    node = node.next;
  }
  return node;
}

/** Whether a control refers to another element. */
function namesOther(control: Element, element: Element): boolean {
  const controlled = attribute(control, 'aria-controls')?.trim();
  return (
    controlled !== undefined && controlled !== '' && !controlled.split(/\s+/).includes(attribute(element, 'id') ?? '')
  );
}

/** Whether the element is opened on top of the page, or holds its menus. */
export function isOverlay(element: Element): boolean {
  if (OVERLAYS.has(element.name)) return true;
  if (attribute(element, 'aria-modal') !== null) return true;
  if (OVERLAY_ROLES.test(attribute(element, 'role') ?? '')) return true;
  return OVERLAY_NAMES.test(`${attribute(element, 'class') ?? ''} ${attribute(element, 'id') ?? ''}`);
}

/** Maximum number of elements after a list of tabs that may be its panels. */
const MAX_PANELS = 50;

/** The elements beside a list of tabs, of which pages show one at a time. */
function* elementsAfter(tabs: Element): Generator<Element> {
  let panel = elementAfter(tabs);
  for (let count = 0; panel && count < MAX_PANELS; count++) {
    yield panel;
    panel = elementAfter(panel);
  }
}

/** A button in a heading below the title opens the section under it. */
const isHeading = (node: Node | null): boolean => node?.type === ELEMENT && /^h[2-6]$/.test(node.name);

interface Controls {
  /** Ids of the elements to which a control refers. */
  readonly ids: ReadonlySet<string>;
  /** Elements that follow a closed control, a heading that is one, or a list of tabs. */
  readonly followers: ReadonlySet<Element>;
}

function findControls(document: Document): Controls {
  const ids = new Set<string>();
  const followers = new Set<Element>();
  const add = (value: string) => {
    for (const word of value.split(/\s+/)) if (word) ids.add(word.replace(/^#/, ''));
  };
  for (let node = following(document, document); node; node = following(node, document)) {
    if (node.type !== ELEMENT) continue;
    let fragment = '';
    let isTab = false;
    if (node.name === 'button' && isHeading(node.parent))
      for (const follower of followersOf(node)) followers.add(follower);
    for (const { name, value } of node.attributes) {
      if (name === 'href') {
        if (value.startsWith('#')) fragment = value;
      } else if (name === 'aria-expanded') {
        isTab = true;
        if (value === 'false') for (const follower of followersOf(node)) followers.add(follower);
      } else if (name === 'role') {
        if (value === 'tab') isTab = true;
        // A panel may name its tab instead.
        else if (value === 'tabpanel') add(attribute(node, 'id') ?? '');
        else if (value === 'tablist') for (const panel of elementsAfter(node)) followers.add(panel);
      } else if (name === 'data-toggle') isTab = true;
      else if (REFERENCES.has(name)) add(value);
    }
    if (isTab && fragment !== '') add(fragment);
  }
  return { ids, followers };
}
