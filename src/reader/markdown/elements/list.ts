/** Bullet and numbered lists, including task items. */
import { attribute, ELEMENT, type Element, hasAttribute, TEXT } from '#html/node.ts';
import { shortText } from '../page-tools.ts';
import { type ConversionState, type EnterHandler, type LeaveHandler, type OpenList, SKIP } from '../state.ts';
import { enterFootnote } from './footnote.ts';

const MAX_NUMBER = 999_999_999;

const LISTS = new Set(['ul', 'ol', 'menu', 'dir']);

/** Whether a list stands directly in another one, after an item of it. Browsers show it as part of that item. */
function continuesItem(state: ConversionState, { parent }: Element): boolean {
  return (
    state.singleLine === 0 &&
    parent?.type === ELEMENT &&
    LISTS.has(parent.name) &&
    state.lists.at(-1)?.written === true &&
    state.lists.at(-1)!.empty.length === 0
  );
}

const leaveBlock: LeaveHandler = (state) => state.flush();

/** Whether a list only arranges sections of the page, as Javadoc does: its first item begins with one. */
function isLayout(list: Element): boolean {
  const listItem = firstElement(list);
  return LISTS.has(list.name) && listItem?.name === 'li' && firstElement(listItem)?.name === 'section';
}

/** Further nodes are not examined, because the question is asked for each item. */
const MAX_NODES_BEFORE = 4;

/** The element with which another one begins. */
function firstElement(parent: Element): Element | null {
  let nodes = 0;
  for (let node = parent.first; node && nodes < MAX_NODES_BEFORE; node = node.next, nodes++) {
    if (node.type === ELEMENT) return node;
    if (node.type === TEXT && node.value.trim() !== '') return null;
  }
  return null;
}

/** A bullet that the page writes itself, in an element of its own, at the start of an item. */
const BULLET = /^[•‣◦▪▫●○■□·∙]$/;
export const isOwnBullet = (element: Element): boolean =>
  element.parent?.type === ELEMENT &&
  element.parent.name === 'li' &&
  isFirst(element) &&
  BULLET.test(shortText(element));

function isFirst(element: Element): boolean {
  for (let node = element.prev; node; node = node.prev)
    if (node.type !== TEXT || node.value.trim() !== '') return false;
  return true;
}

const leaveListInItem: LeaveHandler = (state) => {
  state.flush();
  state.lists.pop();
  state.blocks.pop();
};

const leaveList: LeaveHandler = (state) => {
  state.flush();
  state.lists.pop();
};

const list =
  (ordered: boolean): EnterHandler =>
  (state, element) => {
    state.flush();
    if (isLayout(element)) return leaveBlock;
    const outer = state.lists.at(-1);
    if (!outer || !continuesItem(state, element)) {
      state.lists.push(start(state, ordered, element));
      return leaveList;
    }
    const indent = ' '.repeat(outer.width);
    state.blocks.announce(`list${outer.mark}`, outer.loose);
    state.blocks.push(indent, indent);
    if (!outer.loose) state.blocks.tighten();
    state.lists.push(start(state, ordered, element));
    return leaveListInItem;
  };

function start(state: ConversionState, ordered: boolean, element: Element | null): OpenList {
  const { bulletListMarker } = state.options;
  const mark = ordered ? '.' : bulletListMarker;
  const other = ordered ? ')' : bulletListMarker === '-' ? '*' : '-';
  const isReversed = ordered && element !== null && hasAttribute(element, 'reversed');
  const number = ordered && element ? wholeNumber(attribute(element, 'start')) : null;
  return {
    ordered,
    mark: state.blocks.previous === `list${mark}` ? other : mark,
    number: number ?? (isReversed ? countItems(element) : 1),
    step: isReversed ? -1 : 1,
    written: false,
    loose: element !== null && holdsParagraphs(element),
    empty: [],
    width: 0,
  };
}

/** Whether the text of an item is a separate paragraph, which makes the list loose. */
function holdsParagraphs(list: Element): boolean {
  for (let item = list.first; item; item = item.next) {
    if (item.type !== ELEMENT || item.name !== 'li') continue;
    for (let node = item.first; node; node = node.next) if (node.type === ELEMENT && node.name === 'p') return true;
  }
  return false;
}

function countItems(list: Element): number {
  let count = 0;
  for (let node = list.first; node; node = node.next) if (node.type === 1 && node.name === 'li') count += 1;
  return count;
}

const wholeNumber = (text: string | null): number | null => {
  const found = /^\s*(-?\d{1,9})/.exec(text ?? '');
  return found ? Math.max(0, Number(found[1])) : null;
};

const leaveItem: LeaveHandler = (state) => {
  state.flush();
  const { blocks } = state;
  const { isLoose } = blocks;
  const list = state.lists.at(-1);
  if (!blocks.pop() || !list) return;
  list.written = true;
  list.loose ||= isLoose;
};

const leaveLineItem: LeaveHandler = (state) => state.inline.gap();

export const item: EnterHandler = (state, element) => {
  state.flush();
  const note = enterFootnote(state, element);
  if (note) return note;
  if (element.parent?.type === ELEMENT && isLayout(element.parent)) return leaveBlock;
  if (state.lists.length === 0) state.lists.push(start(state, false, null));
  const list = state.lists.at(-1)!;
  const marker = markerOf(list, element);
  if (state.singleLine > 0) {
    if (state.heading === 0) state.inline.raw(list.ordered ? marker : '•');
    state.inline.gap();
    return leaveLineItem;
  }
  if (isBare(element)) {
    if (list.written) list.empty.push(marker);
    return SKIP;
  }
  for (const empty of list.empty.splice(0)) {
    follow(state, list);
    state.blocks.write(empty);
  }
  follow(state, list);
  list.width = marker.length + 3;
  state.blocks.push(`${marker}   `, ' '.repeat(list.width));
  if (!list.loose) state.blocks.tighten();
  return leaveItem;
};

function follow({ blocks }: ConversionState, list: OpenList): void {
  if (list.written) blocks.announce(`list${list.mark}`, list.loose);
  else {
    // After text, only a list that starts with 1 needs no blank line (CommonMark 0.31, section 5.2).
    const interrupts = !list.ordered || list.number - list.step === 1 || blocks.previous !== 'text';
    blocks.announce(`list${list.mark}`, interrupts ? undefined : true);
  }
}

/** Whether an item contains neither text nor elements. */
const isBare = ({ first }: Element): boolean =>
  !first || (!first.next && first.type === TEXT && first.value.trim() === '');

function markerOf(list: OpenList, listItem: Element): string {
  if (!list.ordered) return list.mark;
  list.number = wholeNumber(attribute(listItem, 'value')) ?? list.number;
  const number = Math.min(Math.max(0, list.number), MAX_NUMBER);
  list.number += list.step;
  return `${number}${list.mark}`;
}

/** A checkbox at the start of an item makes the item a task; every other control is omitted. */
export const checkbox: EnterHandler = (state, element) => {
  const isCheckbox = attribute(element, 'type')?.toLowerCase() === 'checkbox';
  if (isCheckbox && state.gfm && state.lists.length > 0 && state.inline.empty && state.singleLine === 0) {
    state.blocks.extendMarker(hasAttribute(element, 'checked') ? '[x] ' : '[ ] ');
  }
  return SKIP;
};

export const bulletList = list(false);
export const numberedList = list(true);
