/** Definition lists: the term on its own line, each definition after a colon on the lines below. */
import { ELEMENT, type Element } from '#html/node.ts';
import { definitionOf, showsLabel } from '../footnotes.ts';
import { type Enter, type Leave, SKIP, type State } from '../state.ts';
import { enterNote } from './footnote.ts';

const leaveTerm: Leave = (state) => state.flush();

const leaveDefinition: Leave = (state) => {
  state.flush();
  state.blocks.pop();
};

/** The name of the element before this one in its list, ignoring white space. */
function previousName(element: Element): string {
  let node = element.prev;
  while (node && node.type !== ELEMENT) node = node.prev;
  return node ? node.name : '';
}

function follow(state: State, element: Element, ...names: string[]): void {
  state.flush();
  if (state.singleLine === 0 && names.includes(previousName(element))) state.blocks.join();
}

export const term: Enter = (state, element) => {
  const definition = definitionOf(element);
  // The note already has its label.
  if (definition && state.footnotes.notes.has(definition) && showsLabel(element)) return SKIP;
  follow(state, element, 'dt');
  return leaveTerm;
};

export const definition: Enter = (state, element) => {
  state.flush();
  const note = enterNote(state, element);
  if (note) return note;
  follow(state, element, 'dt', 'dd');
  if (state.singleLine > 0) return leaveTerm;
  state.blocks.follow('note');
  state.blocks.push(':   ', '    ');
  return leaveDefinition;
};
