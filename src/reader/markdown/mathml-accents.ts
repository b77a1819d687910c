/** Parts directly above or below another part of a formula: accents, limits, labels of arrows. */
import { attribute, type Element } from '#html/node.ts';
import { ownValue } from '#own-value.ts';

const ACCENTS: Readonly<Record<string, string>> = {
  '^': 'hat',
  ˆ: 'hat',
  '\u0302': 'hat',
  '\\hat{}': 'hat',
  '\\sim': 'tilde',
  '~': 'tilde',
  '˜': 'tilde',
  '\u0303': 'tilde',
  '¯': 'bar',
  '‾': 'overline',
  _: 'underline',
  '\u0305': 'overline',
  '\u0304': 'bar',
  '―': 'overline',
  '-': 'bar',
  '−': 'bar',
  '\\to': 'vec',
  '\\rightarrow': 'vec',
  '\u20d7': 'vec',
  '\\leftarrow': 'overleftarrow',
  '\\leftrightarrow': 'overleftrightarrow',
  '.': 'dot',
  '˙': 'dot',
  '\u0307': 'dot',
  '\\cdot': 'dot',
  '..': 'ddot',
  '¨': 'ddot',
  '\u0308': 'ddot',
  '\\cdots': 'dddot',
  '...': 'dddot',
  '\u20db': 'dddot',
  ˇ: 'check',
  '˘': 'breve',
  '´': 'acute',
  '`': 'grave',
  '˚': 'mathring',
  '\\circ': 'mathring',
  '⏞': 'overbrace',
  '⏜': 'overparen',
  '⎴': 'overbracket',
};
const ACCENTS_BELOW: Readonly<Record<string, string>> = {
  '⏟': 'underbrace',
  _: 'underline',
  '\u0332': 'underline',
  '¯': 'underline',
  '‾': 'underline',
  '―': 'underline',
  '⎵': 'underbracket',
  '\\to': 'underrightarrow',
  '\\rightarrow': 'underrightarrow',
};
/** Accents that stretch over a base with more than one symbol. */
const WIDE: Readonly<Record<string, string>> = {
  hat: 'widehat',
  tilde: 'widetilde',
  bar: 'overline',
  vec: 'overrightarrow',
};
const LIMITS =
  /^\\(?:sum|prod|coprod|int|iint|iiint|oint|big[a-z]+|lim(?:sup|inf)?|max|min|sup|inf|det|gcd|Pr|arg(?:max|min)|operatorname\*?\{[^{}]*\}|underbrace|overbrace)/;
const ARROW = /^\\(?:to|(?:long)?(?:right|left)arrow)$/;

export function underOverToLatex(base: string, under: string, over: string, element: Element): string {
  let latex = base;
  let [below, above] = [under, over];
  const accent = attribute(element, 'accent') === 'false' ? undefined : ownValue(ACCENTS, above);
  if (accent) {
    const wide = base.length > 1 && !/^\\[A-Za-z]+$/.test(base) ? ownValue(WIDE, accent) : undefined;
    latex = `\\${wide ?? accent}{${latex}}`;
    above = '';
  }
  const accentBelow = ownValue(ACCENTS_BELOW, below);
  if (accentBelow) {
    latex = `\\${accentBelow}{${latex}}`;
    below = '';
  }
  if (below === '' && above === '') return latex;
  if (LIMITS.test(latex)) return latex + (below && `_{${below}}`) + (above && `^{${above}}`);
  if (ARROW.test(latex)) {
    return `\\x${latex.includes('left') ? 'left' : 'right'}arrow${below && `[${below}]`}{${above}}`;
  }
  if (above !== '') latex = `\\overset{${above}}{${latex}}`;
  return below === '' ? latex : `\\underset{${below}}{${latex}}`;
}
