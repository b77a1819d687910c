/** Definition lists: the term on its own line, each definition after a colon on a line below. */
import { ELEMENT, type Element } from '#html/node.ts';
import { definitionOf, showsOnlyLabel } from '../footnotes.ts';
import { type ConversionState, type EnterHandler, type LeaveHandler, SKIP } from '../state.ts';
import { enterFootnote } from './footnote.ts';

const leaveTerm: LeaveHandler = (state) => state.flush();

const leaveDefinition: LeaveHandler = (state) => {
  state.flush();
  state.blocks.pop();
};

/** The name of the element before this one in its list, ignoring white space. */
function previousName(element: Element): string {
  let node = element.prev;
  while (node && node.type !== ELEMENT) node = node.prev;
  return node ? node.name : '';
}

function follow(state: ConversionState, element: Element, ...names: string[]): void {
  state.flush();
  if (state.singleLine === 0 && names.includes(previousName(element))) state.blocks.join();
}

export const term: EnterHandler = (state, element) => {
  const definition = definitionOf(element);
  // The label of this note has already been written.
  if (definition && state.footnotes.notes.has(definition) && showsOnlyLabel(element)) return SKIP;
  follow(state, element, 'dt');
  return leaveTerm;
};

export const definition: EnterHandler = (state, element) => {
  state.flush();
  const note = enterFootnote(state, element);
  if (note) return note;
  follow(state, element, 'dt', 'dd');
  if (state.singleLine > 0) return leaveTerm;
  state.blocks.announce('note');
  state.blocks.push(':   ', '    ');
  return leaveDefinition;
};
