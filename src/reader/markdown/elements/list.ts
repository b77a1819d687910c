/** Bullet and numbered lists, task items among them. */
import { attribute, type Element, hasAttribute } from '#html/node.ts';
import { type Enter, type Leave, type List, SKIP, type State } from '../state.ts';
import { enterNote } from './footnote.ts';

const MAX_NUMBER = 999_999_999;

const leaveList: Leave = (state) => {
  state.flush();
  state.lists.pop();
  state.blocks.loose();
};

const list =
  (ordered: boolean): Enter =>
  (state, element) => {
    state.flush();
    const inItem = state.lists.length > 0 && state.blocks.depth > 0;
    // A list inside an item follows its first line directly.
    if (inItem && state.singleLine === 0 && state.blocks.count === 1) state.blocks.tight();
    state.lists.push(ordered ? numbering(element) : { ordered, number: 0, step: 1, written: false, loose: false });
    return leaveList;
  };

function numbering(element: Element): List {
  const reversed = hasAttribute(element, 'reversed');
  const start = wholeNumber(attribute(element, 'start')) ?? (reversed ? countItems(element) : 1);
  return { ordered: true, number: start, step: reversed ? -1 : 1, written: false, loose: false };
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

const leaveItem: Leave = (state) => {
  state.flush();
  const written = state.blocks.pop();
  const list = state.lists.at(-1);
  if (!list || written === null) return;
  list.written = true;
  list.loose = written > 1;
};

const leaveLineItem: Leave = (state) => state.inline.gap();

export const item: Enter = (state, element) => {
  state.flush();
  const note = enterNote(state, element);
  if (note) return note;
  if (state.lists.length === 0) state.lists.push({ ordered: false, number: 0, step: 1, written: false, loose: false });
  const list = state.lists.at(-1)!;
  const marker = markerOf(list, element, state);
  if (state.singleLine > 0) {
    if (state.heading === 0) state.inline.raw(list.ordered ? marker : '•');
    state.inline.gap();
    return leaveLineItem;
  }
  if (list.written) {
    if (list.loose) state.blocks.loose();
    else state.blocks.tight();
  }
  state.blocks.push(`${marker}   `, ' '.repeat(marker.length + 3));
  return leaveItem;
};

function markerOf(list: List, item: Element, state: State): string {
  if (!list.ordered) return state.options.bulletListMarker;
  list.number = wholeNumber(attribute(item, 'value')) ?? list.number;
  const number = Math.min(Math.max(0, list.number), MAX_NUMBER);
  list.number += list.step;
  return `${number}.`;
}

/** A checkbox that starts an item makes it a task; every other control shows nothing. */
export const input: Enter = (state, element) => {
  const isCheckbox = attribute(element, 'type')?.toLowerCase() === 'checkbox';
  if (isCheckbox && state.gfm && state.lists.length > 0 && state.inline.empty && state.singleLine === 0) {
    state.blocks.extendMarker(hasAttribute(element, 'checked') ? '[x] ' : '[ ] ');
  }
  return SKIP;
};

export const bullets = list(false);
export const numbers = list(true);
