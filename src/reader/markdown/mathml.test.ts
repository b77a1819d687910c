import { describe, expect, it } from 'vitest';
import { find } from '#html/node.ts';
import { parseDocument } from '#html/parse.ts';
import { mathmlToLatex } from './mathml.ts';

const latex = (inner: string, attributes = '') =>
  mathmlToLatex(find(parseDocument(`<math ${attributes}>${inner}</math>`), 'math')!);

const i = (name: string) => `<mi>${name}</mi>`;
const n = (digits: string) => `<mn>${digits}</mn>`;
const o = (sign: string) => `<mo>${sign}</mo>`;

const CASES: readonly (readonly [string, string, string])[] = [
  ['fractions', `<mfrac>${n('1')}${i('x')}</mfrac>`, '\\frac{1}{x}'],
  ['binomials', `<mrow>${o('(')}<mfrac linethickness="0">${i('n')}${i('k')}</mfrac>${o(')')}</mrow>`, '\\binom{n}{k}'],
  ['roots', `<msqrt>${i('x')}${o('+')}${n('1')}</msqrt><mroot>${i('x')}${n('3')}</mroot>`, '\\sqrt{x + 1}\\sqrt[3]{x}'],
  ['scripts', `<msubsup>${i('x')}${i('i')}${n('2')}</msubsup>`, 'x_{i}^{2}'],
  [
    'scripts on a group',
    `<msup><mrow>${o('(')}${i('a')}${o('+')}${i('b')}${o(')')}</mrow>${n('2')}</msup>`,
    '(a + b)^{2}',
  ],
  ['primes', `<msup>${i('f')}${o('′')}</msup>`, "f'"],
  ['negative exponents', `<msup>${i('e')}<mrow>${o('−')}${i('x')}</mrow></msup>`, 'e^{-x}'],
  [
    'sums',
    `<munderover>${o('∑')}<mrow>${i('i')}${o('=')}${n('0')}</mrow>${o('∞')}</munderover>`,
    '\\sum_{i = 0}^{\\infty}',
  ],
  ['limits', `<munder>${i('lim')}<mrow>${i('n')}${o('→')}${o('∞')}</mrow></munder>`, '\\lim_{n \\to \\infty}'],
  [
    'accents',
    `<mover accent="true">${i('x')}${o('^')}</mover><mover>${i('v')}${o('→')}</mover><mover><mrow>${i('A')}${i('B')}</mrow>${o('¯')}</mover>`,
    '\\hat{x}\\vec{v}\\overline{AB}',
  ],
  [
    'braces below',
    `<munder><munder><mrow>${i('a')}${o('+')}${i('b')}</mrow>${o('⏟')}</munder>${i('n')}</munder>`,
    '\\underbrace{a + b}_{n}',
  ],
  ['labeled arrows', `<mover>${o('→')}${i('f')}</mover>`, '\\xrightarrow{f}'],
  [
    'matrices',
    `<mrow>${o('[')}<mtable><mtr><mtd>${n('1')}</mtd><mtd>${n('0')}</mtd></mtr><mtr><mtd>${n('0')}</mtd><mtd>${n('1')}</mtd></mtr></mtable>${o(']')}</mrow>`,
    '\\begin{bmatrix}1 & 0 \\\\ 0 & 1\\end{bmatrix}',
  ],
  [
    'cases',
    `<mrow>${o('{')}<mtable><mtr><mtd>${n('1')}</mtd><mtd><mtext>if </mtext>${i('x')}</mtd></mtr></mtable></mrow>`,
    '\\begin{cases}1 & \\text{if }x\\end{cases}',
  ],
  ['fences', `<mfenced open="[" close=")">${n('0')}${n('1')}</mfenced><mfenced>${i('x')}</mfenced>`, '[0,1)(x)'],
  ['tall fences', `<mrow>${o('(')}<mfrac>${n('1')}${n('2')}</mfrac>${o(')')}</mrow>`, '\\left(\\frac{1}{2}\\right)'],
  ['greek', `${i('α')}${i('b')}${i('Ω')}`, '\\alpha b\\Omega'],
  ['functions', `${i('sin')}${o('\u2061')}${i('θ')}${i('rank')}`, '\\sin\\theta\\operatorname{rank}'],
  [
    'alphabets',
    `${i('ℝ')}${i('𝒜')}<mi mathvariant="bold">v</mi><mi mathvariant="normal">d</mi>`,
    '\\mathbb{R}\\mathcal{A}\\mathbf{v}\\mathrm{d}',
  ],
  ['relations', `${i('a')}${o('≤')}${i('b')}${o('≠')}${i('c')}${o('∈')}${i('S')}`, 'a \\leq b \\neq c \\in S'],
  ['signs that LaTeX uses', `${o('{')}${i('x')}${o('}')}${o('%')}${o('&amp;')}`, '\\{x\\}\\%\\&'],
  [
    'scripts before the base',
    `<mmultiscripts>${i('C')}${n('6')}<none/><mprescripts/><none/>${n('14')}</mmultiscripts>`,
    '{}^{14}C_{6}',
  ],
  [
    'boxes and strikes',
    `<menclose notation="box">${i('x')}</menclose><menclose notation="updiagonalstrike">${i('y')}</menclose>`,
    '\\boxed{x}\\cancel{y}',
  ],
  ['elements it does not know', `<mstyle><mpadded>${i('x')}</mpadded></mstyle><mfoo>${i('y')}</mfoo>`, 'xy'],
  [
    'missing children',
    '<mfrac></mfrac><msup></msup><munderover></munderover><mtable></mtable>',
    '\\frac{}{}^{}\\begin{matrix}\\end{matrix}',
  ],
];

describe('mathmlToLatex', () => {
  for (const [name, mathml, expected] of CASES) it(name, () => expect(latex(mathml)).toBe(expected));

  it('prefers the LaTeX source in the formula', () => {
    const annotation = '<annotation encoding="application/x-tex">\\frac{1}{2}\n+ x</annotation>';
    expect(latex(`<semantics>${i('x')}${annotation}</semantics>`)).toBe('\\frac{1}{2} + x');
    expect(latex(i('x'), 'alttext="{\\displaystyle x_1}"')).toBe('x_1');
    expect(latex(`<semantics>${i('x')}<annotation encoding="text/plain">no</annotation></semantics>`)).toBe('x');
  });

  it('returns an empty string for an empty formula', () => expect(latex(' ')).toBe(''));
});
