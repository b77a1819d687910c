/** Rows of a formula: adjacent parts, on their own, between fences, and in the rows of a matrix. */
import { attribute, type Element } from '#html/node.ts';
import { ownValue } from '#own-value.ts';

/** A fraction without a line, as in a binomial coefficient. */
export const FRACTION_WITHOUT_LINE = '\\genfrac{}{}{0pt}{}';

const SIGN = /^ (?:[-+]|\\pm|\\mp) $/;
const BEFORE_OPERAND = /(?:^|[ ([{,|&]|\\\\)$/;

/**
 * Joins parts. A space separates a command from a letter that would otherwise become part of its name; a sign remains
 * next to its number.
 */
export function joinParts(parts: readonly string[]): string {
  let latex = '';
  for (const part of parts) {
    if (part === '') continue;
    const before = latex.slice(-32);
    if (SIGN.test(part) && BEFORE_OPERAND.test(before)) latex += part.trim();
    else if (/^[A-Za-z]/.test(part) && endsInCommand(before)) latex += ` ${part}`;
    else latex += part;
  }
  return latex;
}

const endsInCommand = (latex: string): boolean => /\\[A-Za-z]+$/.test(latex);

const FENCES: Readonly<Record<string, string>> = {
  '(': '(',
  ')': ')',
  '[': '[',
  ']': ']',
  '{': '\\{',
  '}': '\\}',
  '|': '|',
  '∣': '|',
  '‖': '\\|',
  '∥': '\\|',
  '⟨': '\\langle',
  '⟩': '\\rangle',
  '〈': '\\langle',
  '〉': '\\rangle',
  '⌊': '\\lfloor',
  '⌋': '\\rfloor',
  '⌈': '\\lceil',
  '⌉': '\\rceil',
  '': '.',
};

export function fencedToLatex(parts: readonly string[], element: Element): string {
  const open = attribute(element, 'open') ?? '(';
  const close = attribute(element, 'close') ?? ')';
  const separators = [...(attribute(element, 'separators') ?? ',').replace(/\s/g, '')];
  let content = '';
  for (const [at, part] of parts.entries()) {
    content += at === 0 ? part : `${separators[Math.min(at, separators.length) - 1] ?? ''}${part}`;
  }
  return inFences(ownValue(FENCES, open.trim()) ?? open, content, ownValue(FENCES, close.trim()) ?? close);
}

const TALL = /\\(?:frac|sum|prod|int|begin|genfrac|sqrt)/;

/** Writes fences that grow with tall content. */
function inFences(open: string, content: string, close: string): string {
  if (MATRIX_FENCES.has(`${open}${close}`) && isWholeMatrix(content)) {
    const kind = MATRIX_FENCES.get(`${open}${close}`)!;
    return content.replace('\\begin{matrix}', `\\begin{${kind}}`).replace(/\\end\{matrix\}$/, `\\end{${kind}}`);
  }
  if (open === '\\{' && close === '.' && isWholeMatrix(content)) {
    return content.replace('\\begin{matrix}', '\\begin{cases}').replace(/\\end\{matrix\}$/, '\\end{cases}');
  }
  const word = (fence: string) => (/[A-Za-z]$/.test(fence) ? `${fence} ` : fence);
  if (TALL.test(content) || open === '.' || close === '.') {
    if (open === '.' && close === '.') return content;
    return `\\left${word(open)}${content}\\right${word(close)}`.trimEnd();
  }
  return `${word(open)}${content}${word(close)}`.trimEnd();
}

const MATRIX_FENCES: ReadonlyMap<string, string> = new Map([
  ['()', 'pmatrix'],
  ['[]', 'bmatrix'],
  ['\\{\\}', 'Bmatrix'],
  ['||', 'vmatrix'],
  ['\\|\\|', 'Vmatrix'],
]);

const isWholeMatrix = (content: string): boolean =>
  content.startsWith('\\begin{matrix}') && content.indexOf('\\end{matrix}') === content.length - '\\end{matrix}'.length;

const OPENING: ReadonlySet<string> = new Set(['(', '[', '\\{', '|', '\\|', '\\langle', '\\lfloor', '\\lceil']);
const CLOSING: ReadonlySet<string> = new Set([')', ']', '\\}', '|', '\\|', '\\rangle', '\\rfloor', '\\rceil']);

/**
 * Converts a row. Its first and last parts are treated as fences around the whole row if neither occurs again inside.
 */
export function rowToLatex(parts: readonly string[]): string {
  const shown = parts.filter((part) => part !== '');
  const open = shown[0]?.trim() ?? '';
  const close = shown.at(-1)?.trim() ?? '';
  if (shown.length > 2 && OPENING.has(open) && CLOSING.has(close)) {
    const inner = shown.slice(1, -1);
    if (open === '(' && close === ')' && inner.length === 1 && inner[0]!.startsWith(FRACTION_WITHOUT_LINE)) {
      return `\\binom${inner[0]!.slice(FRACTION_WITHOUT_LINE.length)}`;
    }
    if (!inner.some((part) => part.trim() === open || part.trim() === close))
      return inFences(open, joinParts(inner), close);
  }
  if (shown.length === 2 && open === '\\{' && isWholeMatrix(close)) return inFences(open, close, '.');
  return joinParts(parts);
}

export function matrixToLatex(rows: readonly string[], element: Element): string {
  const columns = attribute(element, 'columnalign') ?? '';
  const body = rows.join(' \\\\ ');
  if (/^right left/.test(columns) || attribute(element, 'displaystyle') === 'true') {
    return `\\begin{aligned}${body}\\end{aligned}`;
  }
  return `\\begin{matrix}${body}\\end{matrix}`;
}
