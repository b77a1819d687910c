/**
 * The text of preformatted code as a person would copy it: with line breaks and with lines that are elements, but
 * without line numbers and copy buttons.
 */
import { attribute, ELEMENT, type Element, following, type Node, TEXT } from '#html/node.ts';

const GUTTER =
  /(?:^|\s)(?:line-?nos?|line-?numbers?|line-numbers-rows|gutter|(?:rouge|crayon|hljs-ln)-?(?:gutter|numbers?|n|nums?)|hljs-ln-line hljs-ln-numbers|blob-num|lnt?|code-line-number|react-syntax-highlighter-line-number|CodeMirror-linenumber)(?:\s|$)/i;
const NOT_CODE: ReadonlySet<string> = new Set(['button', 'script', 'style', 'svg', 'template', 'textarea', 'select']);
const LINES: ReadonlySet<string> = new Set(['div', 'p', 'li', 'tr', 'ol', 'ul', 'table', 'pre']);

/** Whether an element contains the line numbers next to code. */
export const isGutter = (element: Element): boolean => GUTTER.test(attribute(element, 'class') ?? '');

export function codeText(root: Element): string {
  const text: string[] = [];
  let fresh = true;
  const add = (piece: string) => {
    if (piece === '') return;
    text.push(piece);
    fresh = piece.endsWith('\n');
  };
  const endLine = () => {
    if (!fresh) add('\n');
  };
  let node: Node | null = following(root, root);
  /** Ends of lines that are elements: after their last descendant. */
  const ends: { after: Node | null }[] = [];
  while (node) {
    while (ends.length > 0 && ends.at(-1)!.after === node) {
      ends.pop();
      endLine();
    }
    let skipped = false;
    if (node.type === TEXT) add(node.value);
    else if (node.type === ELEMENT) {
      if (node.name === 'br') add('\n');
      else if (NOT_CODE.has(node.name) || isGutter(node)) skipped = true;
      else if (LINES.has(node.name) || startsLine(node)) {
        endLine();
        ends.push({ after: following(node, root, true) });
      }
    }
    node = following(node, root, skipped);
  }
  return tidy(text.join(''));
}

/** A code element directly after another one in a pre is a line. */
const startsLine = (element: Element): boolean =>
  element.name === 'code' && element.prev?.type === ELEMENT && element.prev.name === 'code';

/** Normalizes line ends, and removes the indentation of an empty last line. */
const tidy = (text: string): string => {
  const lines = text.replace(/\r\n?/g, '\n').replaceAll('\u00a0', ' ');
  const end = lines.lastIndexOf('\n') + 1;
  return end > 0 && lines.slice(end).trim() === '' ? lines.slice(0, end) : lines;
};
