/**
 * Converts MathML to LaTeX. Uses the formula's own LaTeX (an `annotation`, or `alttext`) if it has any. Otherwise
 * converts the presentation tree from the innermost elements outwards, without recursion.
 */
import { attribute, type Child, ELEMENT, type Element, elements, TEXT, textOf } from '#html/node.ts';
import { ownValue } from '#own-value.ts';
import { underOverToLatex } from './mathml-accents.ts';
import { FRACTION_WITHOUT_LINE, fencedToLatex, joinParts, matrixToLatex, rowToLatex } from './mathml-row.ts';
import { identifierToLatex, operatorToLatex, textToLatex } from './mathml-symbols.ts';

const TEX_ENCODING = /^\s*(?:application\/x-(?:la)?tex|(?:la)?tex)\s*$/i;

/** The LaTeX of a formula on one line; '' if it is empty. */
export function mathmlToLatex(math: Element): string {
  const source = sourceOf(math);
  return oneLine(source === '' ? fromPresentation(math) : source);
}

function sourceOf(math: Element): string {
  for (const annotation of elements(math, 'annotation')) {
    if (TEX_ENCODING.test(attribute(annotation, 'encoding') ?? '')) return withoutMathStyle(textOf(annotation));
  }
  return withoutMathStyle(attribute(math, 'alttext') ?? '');
}

const oneLine = (latex: string): string =>
  latex
    .replace(/(^|[^\\])%[^\n]*\n/g, '$1 ')
    .replace(/\s+/g, ' ')
    .trim();

/** Unwraps `{\displaystyle x}` to x; the style affects only how the formula is drawn. */
export function withoutMathStyle(latex: string): string {
  const trimmed = latex.trim();
  const found = /^\{\\(?:displaystyle|textstyle)\b/.exec(trimmed);
  if (found && trimmed.endsWith('}')) return trimmed.slice(found[0].length, -1).trim();
  return trimmed.replace(/^\\(?:displaystyle|textstyle)\b\s*/, '');
}

/** The name of an element, the LaTeX of its children in order, and the element itself for its attributes. */
interface Frame {
  readonly element: Element;
  readonly parts: string[];
}

/** Elements with text that is a leaf of a formula. */
const LEAVES: ReadonlySet<string> = new Set(['mi', 'mn', 'mo', 'ms', 'mtext']);
const LEFT_OUT: ReadonlySet<string> = new Set([
  'annotation',
  'annotation-xml',
  'maligngroup',
  'malignmark',
  'none',
  'mprescripts',
]);

function fromPresentation(math: Element): string {
  const frames: Frame[] = [{ element: math, parts: [] }];
  let node: Child | null = math.first;
  for (;;) {
    if (!node) {
      const frame = frames.pop()!;
      const latex = compose(frame);
      const outer = frames.at(-1);
      if (!outer) return latex;
      outer.parts.push(latex);
      node = frame.element.next;
      continue;
    }
    if (node.type === ELEMENT) {
      const { name } = node;
      if (LEAVES.has(name)) frames.at(-1)!.parts.push(leaf(node));
      else if (!LEFT_OUT.has(name)) {
        frames.push({ element: node, parts: [] });
        node = node.first;
        continue;
      } else if (name === 'none') frames.at(-1)!.parts.push('');
      else if (name === 'mprescripts') frames.at(-1)!.parts.push(PRESCRIPTS);
    } else if (node.type === TEXT && node.value.trim() !== '')
      frames.at(-1)!.parts.push(textToLatex(node.value.trim()));
    node = node.next;
  }
}

/** Marks the start of the prescripts among the parts of mmultiscripts. */
const PRESCRIPTS = '\u0000';

function leaf(element: Element): string {
  const text = textOf(element).replace(/\s+/g, ' ').trim();
  switch (element.name) {
    case 'mi':
      return withVariant(element, identifierToLatex(text), text.length === 1);
    case 'mn':
      return withVariant(element, text.replace(/[%#&]/g, '\\$&'), true);
    case 'mo':
      return operatorToLatex(text);
    case 'ms':
      return `\\text{"${textToLatex(text)}"}`;
    default: {
      const source = textOf(element).replace(/[\s\u00a0]+/g, ' ');
      return source.trim() === '' ? (source === '' ? '' : '\\ ') : `\\text{${textToLatex(source)}}`;
    }
  }
}

const VARIANTS: Readonly<Record<string, string>> = {
  bold: '\\mathbf',
  'bold-italic': '\\boldsymbol',
  'double-struck': '\\mathbb',
  script: '\\mathcal',
  'bold-script': '\\mathcal',
  fraktur: '\\mathfrak',
  'bold-fraktur': '\\mathfrak',
  'sans-serif': '\\mathsf',
  monospace: '\\mathtt',
};

function withVariant(element: Element, latex: string, single: boolean): string {
  const variant = attribute(element, 'mathvariant') ?? '';
  if (variant === 'normal') return single && /^[A-Za-z]$/.test(latex) ? `\\mathrm{${latex}}` : latex;
  const command = ownValue(VARIANTS, variant);
  return command === undefined || latex === '' ? latex : `${command}{${latex}}`;
}

type Compose = (parts: readonly string[], element: Element) => string;

const row: Compose = (parts) => joinParts(parts);
const first: Compose = (parts) => parts[0] ?? '';

const COMPOSE: Readonly<Record<string, Compose | undefined>> = {
  // No element name collides with a property of Object.prototype, because all names start with m.
  maction: first,
  semantics: first,
  mphantom: (parts) => `\\phantom{${joinParts(parts)}}`,
  mspace: (_, element) => space(element),
  mfrac: (parts, element) => fraction(parts, element),
  msqrt: (parts) => `\\sqrt{${joinParts(parts)}}`,
  mroot: ([base = '', index = '']) => `\\sqrt[${index}]{${base}}`,
  msub: ([base = '', sub = '']) => `${nucleus(base)}_{${sub}}`,
  msup: ([base = '', sup = '']) => `${nucleus(base)}${raised(sup)}`,
  msubsup: ([base = '', sub = '', sup = '']) => `${nucleus(base)}_{${sub}}${raised(sup)}`,
  munder: ([base = '', under = ''], element) => underOverToLatex(base, under, '', element),
  mover: ([base = '', over = ''], element) => underOverToLatex(base, '', over, element),
  munderover: ([base = '', under = '', over = ''], element) => underOverToLatex(base, under, over, element),
  mmultiscripts: (parts) => multiscripts(parts),
  mfenced: (parts, element) => fencedToLatex(parts, element),
  menclose: (parts, element) => enclosed(joinParts(parts), attribute(element, 'notation') ?? 'longdiv'),
  mtable: (parts, element) => matrixToLatex(parts, element),
  mtr: (parts) => parts.join(' & '),
  mlabeledtr: (parts) => parts.slice(1).join(' & '),
};

/** Elements that only contain a row. */
const ROWS: ReadonlySet<string> = new Set(['math', 'mrow', 'mstyle', 'mpadded', 'mtd']);
/** Elements that treat their children as one row. */
const AROUND_A_ROW: ReadonlySet<string> = new Set(['menclose', 'mphantom', 'msqrt']);

function compose({ element, parts }: Frame): string {
  if (ROWS.has(element.name)) return rowToLatex(parts);
  const write = ownValue(COMPOSE, element.name) ?? row;
  const arguments_ = AROUND_A_ROW.has(element.name) ? [joinParts(parts).trim()] : parts.map((part) => part.trim());
  return write(arguments_, element);
}

/** The base of a script: a single symbol unchanged, anything longer in braces. */
function nucleus(base: string): string {
  if (
    base.length <= 1 ||
    /^\\[A-Za-z]+$/.test(base) ||
    /^\\(?:math[a-z]+|operatorname|text|boldsymbol|left|hat|bar|vec|overline|underline|tilde|dot|ddot|underbrace|overbrace)\b/.test(
      base,
    ) ||
    /^[\d.,]+$/.test(base)
  ) {
    return base;
  }
  return /^\(.*\)$/.test(base) ? base : `{${base}}`;
}

const PRIMES = /^(?:\\prime)+$/;
const raised = (sup: string): string =>
  PRIMES.test(sup) ? "'".repeat(sup.length / '\\prime'.length) : /^'+$/.test(sup) ? sup : `^{${sup}}`;

function fraction([top = '', bottom = '']: readonly string[], element: Element): string {
  const thickness = attribute(element, 'linethickness') ?? '';
  if (/^0(?:[a-z%]|$)/.test(thickness)) return `${FRACTION_WITHOUT_LINE}{${top}}{${bottom}}`;
  if (attribute(element, 'bevelled') === 'true') return `${nucleus(top)}/${nucleus(bottom)}`;
  return `\\frac{${top}}{${bottom}}`;
}

function space(element: Element): string {
  if (attribute(element, 'linebreak') === 'newline') return '\\\\';
  const width = /^\s*(-?[\d.]+)\s*(em|ex|px|pt|mu|)/.exec(attribute(element, 'width') ?? '');
  if (!width) return '';
  const em = Number(width[1]) / (width[2] === 'em' ? 1 : width[2] === 'ex' ? 2 : width[2] === 'mu' ? 18 : 12);
  return em <= 0.05 ? '' : em < 0.2 ? '\\,' : em < 0.25 ? '\\:' : em < 0.5 ? '\\;' : em < 1.5 ? '\\quad' : '\\qquad';
}

function multiscripts([base = '', ...scripts]: readonly string[]): string {
  const split = scripts.indexOf(PRESCRIPTS);
  const after = split < 0 ? scripts : scripts.slice(0, split);
  const before = split < 0 ? [] : scripts.slice(split + 1);
  const lead = scriptPairs(before);
  return `${lead === '' ? '' : `{}${lead}`}${nucleus(base)}${scriptPairs(after)}`;
}

function scriptPairs(scripts: readonly string[]): string {
  const low = scripts.filter((_, at) => at % 2 === 0).join('');
  const high = scripts.filter((_, at) => at % 2 === 1).join('');
  return (low && `_{${low}}`) + (high && `^{${high}}`);
}

function enclosed(content: string, notation: string): string {
  if (notation.includes('box')) return `\\boxed{${content}}`;
  if (notation.includes('radical')) return `\\sqrt{${content}}`;
  if (/strike/.test(notation)) return `\\cancel{${content}}`;
  if (notation.includes('top')) return `\\overline{${content}}`;
  if (notation.includes('bottom')) return `\\underline{${content}}`;
  return content;
}
