/** Notes: `[^1]` in the text, `[^1]: ...` where the note stands. */
import { attribute, type Element } from '#html/node.ts';
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
