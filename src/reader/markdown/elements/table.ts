/**
 * Tables. A data table becomes a pipe table. A layout table becomes running text with one line per row; if its cells
 * contain blocks, they are written as ordinary blocks.
 *
 * A table without a header (see tables.ts) gets an empty one, because GFM requires a header row and the first row
 * contains data.
 */
import { attribute, ELEMENT, type Element, following, type Node, TEXT } from '#html/node.ts';
import { codeText, isGutter, isLineTable } from '../code-text.ts';
import { type ConversionState, type EnterHandler, type LeaveHandler, SKIP, type TableMode } from '../state.ts';
import { tableToHtml } from '../table-html.ts';
import { alignOf, TableGrid } from '../tables.ts';
import { BLOCK_ELEMENTS } from './block-elements.ts';
import { codeLines } from './code.ts';
import { footnoteOrBlock } from './footnote.ts';

const ROW_PARTS: ReadonlySet<string> = new Set([
  'thead',
  'tbody',
  'tfoot',
  'tr',
  'td',
  'th',
  'caption',
  'colgroup',
  'col',
  'table',
]);
/** Blocks that can still be written on one line in a cell. */
const LINE_BLOCKS: ReadonlySet<string> = new Set([
  'p',
  'div',
  'ul',
  'ol',
  'li',
  'dl',
  'dt',
  'dd',
  'center',
  'address',
  'figure',
  'figcaption',
]);
/** A cell with more text or more paragraphs than this is not a data cell. */
const MAX_CELL_CHARACTERS = 1200;
const MAX_PARAGRAPHS = 4;

/**
 * Decides how to write a table. A table inside a cell makes it a layout table, unless it begins with a row of headers.
 * `isGiven`: whether the table is known not to be a layout table.
 */
function modeOf(table: Element, gfm: boolean, isGiven: boolean): TableMode {
  const role = attribute(table, 'role');
  // An explicit role says that the table holds data, however small it is or however long its cells are.
  const isDeclared = role === 'table';
  let rows = 0;
  let cells = 0;
  let widest = 0;
  let headers = 0;
  let blocks = false;
  let isLayout = role === 'presentation' || role === 'none';
  let text = 0;
  let paragraphs = 0;
  let startsWithHeaders = false;
  /** Whether the node is in a table inside a cell, and the first node after that table. */
  let isInside = false;
  let insideEnd: Node | null = null;
  for (let node: Node | null = following(table, table); node; node = following(node, table)) {
    if (node === insideEnd) isInside = false;
    if (node.type === TEXT) {
      text += node.value.length;
      if (!isDeclared && text > MAX_CELL_CHARACTERS && node.value.trim() !== '') isLayout = true;
    } else if (node.type === ELEMENT) {
      const { name } = node;
      if (name === 'table') {
        if (!startsWithHeaders || isLayout) return 'layout';
        if (!isInside) insideEnd = following(node, table, true);
        isInside = true;
      } else if (isInside && ROW_PARTS.has(name)) {
        // The text of all its cells is text of the cell around it.
      } else if (name === 'tr') {
        startsWithHeaders ||= rows === 1 && cells > 1 && headers === cells;
        rows += 1;
        cells = 0;
      } else if (name === 'td' || name === 'th') {
        cells += 1;
        widest = Math.max(widest, cells);
        if (name === 'th') headers += 1;
        text = 0;
        paragraphs = 0;
      } else if (BLOCK_ELEMENTS.has(name) && !ROW_PARTS.has(name)) {
        blocks = true;
        if (name === 'p' && ++paragraphs > MAX_PARAGRAPHS) isLayout = true;
        if (!LINE_BLOCKS.has(name) && !(name === 'pre' && !codeText(node).trim().includes('\n'))) isLayout = true;
      } else if (name === 'script' || name === 'style') text -= MAX_CELL_CHARACTERS;
    }
  }
  const isData = isDeclared || headers > 0 || (rows > 1 && widest > 1);
  if (gfm && isData && (isGiven || !isLayout)) return 'pipes';
  return blocks ? 'layout' : 'rows';
}

const leavePipes: LeaveHandler = (state) => {
  state.tables.pop();
  const markdown = state.grid!.toString();
  state.grid = null;
  if (markdown === '') return;
  state.blocks.announce('table');
  state.blocks.write(markdown);
};

const leaveText: LeaveHandler = (state) => {
  state.flush();
  state.tables.pop();
  state.blocks.cancelJoin();
};

export const table: EnterHandler = (state, element) => {
  const { gfm } = state.options;
  state.flush();
  if (state.singleLine > 0) {
    state.tables.push('rows');
    return leaveText;
  }
  if (isLineTable(element)) return codeLines(state, element);
  if (gfm === 'table-html') {
    state.blocks.announce('table');
    state.blocks.write(tableToHtml(element, state));
    return SKIP;
  }
  const isGiven = state.options.tablesOfFile === true;
  const mode = modeOf(element, gfm === 'all', isGiven);
  state.tables.push(mode);
  if (mode !== 'pipes') return leaveText;
  state.grid = new TableGrid({ keepsEmpty: isGiven });
  return leavePipes;
};

const leaveCaption: LeaveHandler = (state) => {
  const text = state.inline.take();
  state.singleLine -= 1;
  if (text !== '') state.blocks.write(text);
};

/** Written on one line, so that it can precede the table that is being collected. */
export const caption: EnterHandler = (state) => {
  state.flush();
  if (state.singleLine > 0) return null;
  state.singleLine += 1;
  return leaveCaption;
};

const leaveRow: LeaveHandler = (state) => {
  if (currentMode(state) === 'pipes') state.grid!.endRow();
  else state.flush();
};

const currentMode = (state: ConversionState): TableMode | undefined => state.tables.at(-1);

export const row: EnterHandler = (state, element) => {
  const mode = currentMode(state);
  if (mode === 'pipes') {
    const { parent } = element;
    state.grid!.startRow(parent?.type === ELEMENT && parent.name === 'thead');
    return leaveRow;
  }
  state.flush();
  if (mode === 'rows' && state.singleLine === 0 && followsRow(element)) state.blocks.join();
  return leaveRow;
};

/** Whether the table has a row before this one. */
function followsRow(row: Element): boolean {
  for (let node = row.prev; node; node = node.prev) if (node.type === ELEMENT) return true;
  const part = row.parent;
  for (let node = part?.type === ELEMENT ? part.prev : null; node; node = node.prev) {
    if (node.type === ELEMENT && (node.name === 'thead' || node.name === 'tbody')) return true;
  }
  return false;
}

const leaveCell: LeaveHandler = (state, element) => {
  const text = state.inline.take(false);
  state.singleLine -= 1;
  state.grid!.addCell(text, element, alignOf(element));
};

const leaveRowCell: LeaveHandler = (state) => state.inline.gap();

export const cell: EnterHandler = (state, element) => {
  const mode = currentMode(state);
  if (mode === 'pipes') {
    state.singleLine += 1;
    return leaveCell;
  }
  if (mode === 'rows') {
    state.inline.gap();
    return leaveRowCell;
  }
  return isGutter(element) ? SKIP : footnoteOrBlock(state, element);
};
