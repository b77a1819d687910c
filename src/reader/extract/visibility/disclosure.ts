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
const REFERENCES = ['aria-controls', 'data-target', 'data-bs-target', 'data-controls'] as const;
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
  let known: ReadonlySet<string> | undefined;
  const isNamed = (element: Element): boolean => {
    const id = attribute(element, 'id');
    if (id) {
      known ??= controlledIds(document);
      if (known.has(id)) return true;
    }
    return followsClosedControl(element);
  };
  return {
    isPanel: (element) =>
      !isOverlay(element) && (mayBeRevealed(element, 'display') || isNamed(element)) && !isOrder(element),
    isControlled: (element) => isNamed(element) && !isOverlay(element) && !isOrder(element),
  };
}

/** What may be between a control and its panel at most, in nodes: the markup of the control itself. */
const MAX_CONTROL_NODES = 20;

/**
 * Whether the element directly before this one is a control that is closed, or holds one and little else: the question
 * before an answer. Many pages leave out the reference from the control to its panel.
 */
function followsClosedControl(element: Element): boolean {
  let before = element.prev;
  while (before && before.type !== ELEMENT) {
    if (before.type === TEXT && /\S/.test(before.value)) return false;
    before = before.prev;
  }
  if (!before) return false;
  let nodes = 0;
  for (let node: Node | null = before; node; node = following(node, before)) {
    if (++nodes > MAX_CONTROL_NODES) return false;
    if (node.type === ELEMENT && attribute(node, 'aria-expanded') === 'false') return !namesOther(node, element);
  }
  return false;
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

function controlledIds(document: Document): ReadonlySet<string> {
  const ids = new Set<string>();
  const add = (value: string) => {
    for (const word of value.split(/\s+/)) if (word) ids.add(word.replace(/^#/, ''));
  };
  for (let node = following(document, document); node; node = following(node, document)) {
    if (!('attributes' in node)) continue;
    const isTab =
      attribute(node, 'role') === 'tab' ||
      attribute(node, 'data-toggle') !== null ||
      attribute(node, 'aria-expanded') !== null;
    for (const { name, value } of node.attributes) {
      if (REFERENCES.some((known) => known === name)) add(value);
      else if (isTab && name === 'href' && value.startsWith('#')) add(value);
    }
    // A panel may name its tab instead.
    if (attribute(node, 'role') === 'tabpanel') add(attribute(node, 'id') ?? '');
  }
  return ids;
}
