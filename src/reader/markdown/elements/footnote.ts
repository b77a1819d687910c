/** Notes: `[^1]` in the text, `[^1]: ...` where the note stands. */
import { attribute, type Element } from '#html/node.ts';
import { showsLabel } from '../footnotes.ts';
import type { Enter, Leave, State } from '../state.ts';
import { block } from './block.ts';

const leaveNote: Leave = (state) => {
  state.flush();
  state.blocks.pop();
  state.openNotes -= 1;
};

/** Starts a note when the element holds one; null for every other element. */
export function enterNote(state: State, element: Element): Leave | null {
  const label = state.footnotes.notes.get(element);
  if (label === undefined || state.singleLine > 0) return null;
  state.openNotes += 1;
  state.blocks.follow('note');
  state.blocks.push(`[^${label}]: `, '    ');
  return leaveNote;
}

/** A block that may hold a note. */
export const noteOrBlock: Enter = (state, element) => {
  if (!state.footnotes.notes.has(element)) return block(state, element);
  state.flush();
  return enterNote(state, element);
};

/** What a wiki puts around the links from a note back to the text. */
export const isBacklinkBox = (element: Element): boolean => /\bbacklink\b/i.test(attribute(element, 'class') ?? '');

/** The number that a page writes itself at the start of a note, which the note has already. */
export const isNoteNumber = (state: State, element: Element): boolean =>
  state.openNotes > 0 && state.inline.empty && state.blocks.previous === null && showsLabel(element);
