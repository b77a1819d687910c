/**
 * Extracts the text of preformatted code as a person would copy it: with line breaks, including lines that are
 * elements, but without line numbers and copy buttons.
 */
import { attribute, children, ELEMENT, type Element, find, following, type Node, TEXT, type Text } from '#html/node.ts';

const GUTTER =
  /(?:^|\s)(?:line-?nos?|line-?numbers?|line-numbers-rows|gutter|(?:rouge|crayon|hljs-ln)-?(?:gutter|numbers?|n|nums?)|hljs-ln-line hljs-ln-numbers|blob-num|lnt?|code-line-number|react-syntax-highlighter-line-number|CodeMirror-linenumber|codeLineNumber_\w{1,20}|token-line-number|linenodiv)(?:\s|$)/i;
const NOT_CODE: ReadonlySet<string> = new Set(['button', 'script', 'style', 'svg', 'template', 'textarea', 'select']);
const TABLE_PARTS: ReadonlySet<string> = new Set(['table', 'thead', 'tbody', 'tfoot', 'tr', 'colgroup']);
const LINES: ReadonlySet<string> = new Set(['div', 'p', 'li', 'tr', 'ol', 'ul', 'table', 'pre']);

/** Whether an element contains the line numbers next to code. */
export const isGutter = (element: Element): boolean => GUTTER.test(attribute(element, 'class') ?? '');

/** Doxygen puts the descriptions of names behind the lines, and ReSpec a label before them. */
const isAddition = (element: Element): boolean =>
  /(?:^|\s)(?:ttc|idlHeader)(?:\s|$)/.test(attribute(element, 'class') ?? '');

export function codeText(root: Element): string {
  const text: string[] = [];
  let fresh = true;
  const isDivision = root.name === 'div';
  const add = (piece: string) => {
    if (piece === '') return;
    text.push(piece);
    fresh = piece.endsWith('\n');
  };
  const endLine = () => {
    if (!fresh) add('\n');
  };
  let node: Node | null = following(root, root);
  /** The ends of lines that are elements; each line ends after the element's last descendant. */
  const ends: { after: Node | null }[] = [];
  while (node) {
    while (ends.length > 0 && ends.at(-1)!.after === node) {
      ends.pop();
      endLine();
    }
    let skipped = false;
    if (node.type === TEXT) {
      if (!isBetweenCells(node) && !(isDivision && isBetweenLines(node, root))) add(node.value);
    } else if (node.type === ELEMENT) {
      if (node.name === 'br') add('\n');
      else if (NOT_CODE.has(node.name) || isGutter(node) || isAddition(node)) skipped = true;
      else if (LINES.has(node.name) || startsLine(node)) {
        endLine();
        ends.push({ after: following(node, root, true) });
      }
    }
    node = following(node, root, skipped);
  }
  return tidy(text.join(''));
}

/** Indentation of the source between the rows and cells of a table of lines. */
const isBetweenCells = ({ parent, value }: Text): boolean =>
  parent?.type === ELEMENT && TABLE_PARTS.has(parent.name) && !/\S/.test(value);

/** White space between lines is not displayed, except in a pre element. */
const isBetweenLines = ({ parent, value }: Text, root: Element): boolean => parent === root && !/\S/.test(value);

/** An element that is a line of its own: by its style, or because one that is named or made like it comes directly before. */
function startsLine(element: Element): boolean {
  if (isBlock(element)) return true;
  const { prev, parent } = element;
  if (prev?.type !== ELEMENT || prev.name !== element.name) return false;
  if (element.name === 'code') return !(parent?.type === ELEMENT && LINE.test(attribute(parent, 'class') ?? ''));
  return LINE.test(attribute(element, 'class') ?? '') && LINE.test(attribute(prev, 'class') ?? '');
}
/** `line`, `code-line`, `token-line`, but not words such as `underline`. */
const LINE = /(?:^|[\s_-])line(?:\s|$)/;

const BLOCK_STYLE = /display\s*:\s*(?:block|flex|grid|table-row)\b/i;
const isBlock = (element: Element): boolean => BLOCK_STYLE.test(attribute(element, 'style') ?? '');

const CODE_CELL = /(?:^|\s)(?:blob-code|hljs-ln-code|line-?(?:content|code)|code)(?:[\s-]|$)/;

/** Whether a cell holds a line of code. */
export const isCodeCell = (cell: Element): boolean => CODE_CELL.test(attribute(cell, 'class') ?? '');

/** Whether each row of a table is a line of code, with its number in a cell of its own. */
export function isLineTable(table: Element): boolean {
  const row = find(table, 'tr');
  if (!row) return false;
  let hasNumber = false;
  for (const node of children(row)) {
    if (node.type !== ELEMENT) continue;
    if (isGutter(node)) hasNumber = true;
    else return hasNumber && isCodeCell(node) && isOneLine(node);
  }
  return false;
}

/** Whether a cell has no lines of its own. */
function isOneLine(cell: Element): boolean {
  for (let node: Node | null = following(cell, cell); node; node = following(node, cell)) {
    if (node.type === ELEMENT && (LINES.has(node.name) || node.name === 'br')) return false;
  }
  return true;
}

/** Normalizes line ends, and removes the indentation of an empty last line. */
const tidy = (text: string): string => {
  const lines = text.replace(/\r\n?/g, '\n').replaceAll('\u00a0', ' ');
  const end = lines.lastIndexOf('\n') + 1;
  return end > 0 && lines.slice(end).trim() === '' ? lines.slice(0, end) : lines;
};
