/** Footnotes: `[^1]` in the text, `[^1]: ...` at the note. */
import { attribute, type Element } from '#html/node.ts';
import { showsLabel } from '../footnotes.ts';
import type { Enter, Leave, State } from '../state.ts';
import { block } from './block.ts';

const leaveNote: Leave = (state) => {
  state.flush();
  state.blocks.pop();
  state.openNotes -= 1;
};

/** Starts a note if the element contains one; null for every other element. */
export function enterNote(state: State, element: Element): Leave | null {
  const label = state.footnotes.notes.get(element);
  if (label === undefined || state.singleLine > 0) return null;
  state.openNotes += 1;
  state.blocks.follow('note');
  state.blocks.push(`[^${label}]: `, '    ');
  return leaveNote;
}

/** Handles a block that may contain a note. */
export const noteOrBlock: Enter = (state, element) => {
  if (!state.footnotes.notes.has(element)) return block(state, element);
  state.flush();
  return enterNote(state, element);
};

/** Whether the element is a wiki's container for the back links of a note. */
export const isBacklinkBox = (element: Element): boolean => /\bbacklink\b/i.test(attribute(element, 'class') ?? '');

/** Whether the element is the number at the start of a note, which its label repeats. */
export const isNoteNumber = (state: State, element: Element): boolean =>
  state.openNotes > 0 && state.inline.empty && state.blocks.previous === null && showsLabel(element);
