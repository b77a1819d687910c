/** Footnotes: `[^1]` in the text, `[^1]: ...` at the note. */
import { attribute, type Element } from '#html/node.ts';
import { showsOnlyLabel } from '../footnotes.ts';
import type { ConversionState, EnterHandler, LeaveHandler } from '../state.ts';
import { block } from './block.ts';

const leaveNote: LeaveHandler = (state) => {
  state.flush();
  state.blocks.pop();
  state.openFootnotes -= 1;
};

/** Starts a note if the element contains one; returns null for every other element. */
export function enterFootnote(state: ConversionState, element: Element): LeaveHandler | null {
  const label = state.footnotes.notes.get(element);
  if (label === undefined || state.singleLine > 0) return null;
  state.openFootnotes += 1;
  state.blocks.announce('note');
  state.blocks.push(`[^${label}]: `, '    ');
  return leaveNote;
}

/** Handles a block that may contain a note. */
export const footnoteOrBlock: EnterHandler = (state, element) => {
  if (!state.footnotes.notes.has(element)) return block(state, element);
  state.flush();
  return enterFootnote(state, element);
};

/** Whether the element is a wiki's container for the backlinks of a note. */
export const isBacklinkContainer = (element: Element): boolean =>
  /\bbacklink\b/i.test(attribute(element, 'class') ?? '');

/** Whether the element is the number at the start of a note, which the label of the note repeats. */
export const isFootnoteNumber = (state: ConversionState, element: Element): boolean =>
  state.openFootnotes > 0 && state.inline.empty && state.blocks.previous === null && showsOnlyLabel(element);
