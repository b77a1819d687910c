/** Converts Office formulas (OMML, ISO/IEC 29500-1, chapter 22) to MathML. */
import { escapeText } from '#html/serialize.ts';
import { ownValue } from '#own-value.ts';
import { SKIP, walk } from '../xml/walk.ts';
import { attribute, child, childAt, textOf, type XmlElement } from '../xml/xml.ts';

interface Part {
  readonly name: string;
  readonly html: string;
}

interface Frame {
  readonly element: XmlElement;
  readonly parts: Part[];
}

/** Converts `m:oMath` to a `math` element; '' if it is empty. */
export function mathml(formula: XmlElement, display: boolean): string {
  const frames: Frame[] = [{ element: formula, parts: [] }];
  walk(formula, {
    enter(element) {
      const { name } = element;
      if (element === formula) return undefined;
      if (name === 'm:r' || name === 'w:r') {
        frames.at(-1)!.parts.push({ name, html: runHtml(element, inFunctionName(frames), frames.length === 1) });
        return SKIP;
      }
      if (name.endsWith('Pr') || name === 'w:del') return SKIP;
      frames.push({ element, parts: [] });
      return () => {
        const { parts } = frames.pop()!;
        const compose = ownValue(COMPOSE, name) ?? row;
        const html = compose(parts, element);
        frames.at(-1)!.parts.push({ name, html });
      };
    },
  });
  const content = frames[0]!.parts.map(({ html }) => html).join('');
  return content === '' ? '' : `<math${display ? ' display="block"' : ''}>${content}</math>`;
}

const inFunctionName = (frames: readonly Frame[]): boolean => frames.at(-1)!.element.name === 'm:fName';

type Compose = (parts: readonly Part[], element: XmlElement) => string;

const row: Compose = (parts) => {
  const html = parts.map((part) => part.html);
  return html.length === 1 ? html[0]! : `<mrow>${html.join('')}</mrow>`;
};

const partOf = (parts: readonly Part[], name: string): string =>
  parts.find((part) => part.name === name)?.html || '<mrow></mrow>';

const valueAt = (element: XmlElement, ...path: readonly string[]): string | undefined => {
  const found = childAt(element, ...path);
  return found && (attribute(found, 'm:val') ?? '');
};

const isSet = (element: XmlElement, ...path: readonly string[]): boolean => {
  const value = valueAt(element, ...path);
  return value !== undefined && !/^(?:0|false|off)$/.test(value);
};

const mo = (sign: string): string => `<mo>${escapeText(sign)}</mo>`;

const COMPOSE: Readonly<Record<string, Compose | undefined>> = {
  'm:f': fraction,
  'm:sSup': (parts) => `<msup>${partOf(parts, 'm:e')}${partOf(parts, 'm:sup')}</msup>`,
  'm:sSub': (parts) => `<msub>${partOf(parts, 'm:e')}${partOf(parts, 'm:sub')}</msub>`,
  'm:sSubSup': (parts) =>
    `<msubsup>${partOf(parts, 'm:e')}${partOf(parts, 'm:sub')}${partOf(parts, 'm:sup')}</msubsup>`,
  'm:sPre': (parts) =>
    `<mmultiscripts>${partOf(parts, 'm:e')}<mprescripts/>${partOf(parts, 'm:sub')}${partOf(parts, 'm:sup')}</mmultiscripts>`,
  'm:rad': (parts, element) =>
    isSet(element, 'm:radPr', 'm:degHide') || partOf(parts, 'm:deg') === '<mrow></mrow>'
      ? `<msqrt>${partOf(parts, 'm:e')}</msqrt>`
      : `<mroot>${partOf(parts, 'm:e')}${partOf(parts, 'm:deg')}</mroot>`,
  'm:nary': nary,
  'm:d': delimited,
  'm:func': (parts) => `<mrow>${partOf(parts, 'm:fName')}<mo>\u2061</mo>${partOf(parts, 'm:e')}</mrow>`,
  'm:limLow': (parts) => `<munder>${partOf(parts, 'm:e')}${partOf(parts, 'm:lim')}</munder>`,
  'm:limUpp': (parts) => `<mover>${partOf(parts, 'm:e')}${partOf(parts, 'm:lim')}</mover>`,
  'm:acc': (parts, element) =>
    `<mover accent="true">${partOf(parts, 'm:e')}${mo(valueAt(element, 'm:accPr', 'm:chr') || '\u0302')}</mover>`,
  'm:bar': (parts, element) =>
    valueAt(element, 'm:barPr', 'm:pos') === 'top'
      ? `<mover>${partOf(parts, 'm:e')}<mo>\u00af</mo></mover>`
      : `<munder>${partOf(parts, 'm:e')}<mo>_</mo></munder>`,
  'm:groupChr': (parts, element) => {
    const sign = mo(valueAt(element, 'm:groupChrPr', 'm:chr') || '\u23df');
    const above = valueAt(element, 'm:groupChrPr', 'm:pos') === 'top';
    return above ? `<mover>${partOf(parts, 'm:e')}${sign}</mover>` : `<munder>${partOf(parts, 'm:e')}${sign}</munder>`;
  },
  'm:borderBox': (parts) => `<menclose notation="box">${partOf(parts, 'm:e')}</menclose>`,
  'm:m': (parts) => `<mtable>${parts.map(({ html }) => html).join('')}</mtable>`,
  'm:mr': (parts) => `<mtr>${parts.map(({ html }) => `<mtd>${html}</mtd>`).join('')}</mtr>`,
  'm:eqArr': (parts) => `<mtable>${parts.map(({ html }) => `<mtr><mtd>${html}</mtd></mtr>`).join('')}</mtable>`,
};

function fraction(parts: readonly Part[], element: XmlElement): string {
  const [top, bottom] = [partOf(parts, 'm:num'), partOf(parts, 'm:den')];
  switch (valueAt(element, 'm:fPr', 'm:type')) {
    case 'noBar':
      return `<mfrac linethickness="0">${top}${bottom}</mfrac>`;
    case 'skw':
      return `<mfrac bevelled="true">${top}${bottom}</mfrac>`;
    case 'lin':
      return `<mrow>${top}<mo>/</mo>${bottom}</mrow>`;
    default:
      return `<mfrac>${top}${bottom}</mfrac>`;
  }
}

function nary(parts: readonly Part[], element: XmlElement): string {
  const sign = mo(valueAt(element, 'm:naryPr', 'm:chr') || '∫');
  const sub = isSet(element, 'm:naryPr', 'm:subHide') ? undefined : partOf(parts, 'm:sub');
  const sup = isSet(element, 'm:naryPr', 'm:supHide') ? undefined : partOf(parts, 'm:sup');
  const operator =
    sub !== undefined && sup !== undefined
      ? `<munderover>${sign}${sub}${sup}</munderover>`
      : sub !== undefined
        ? `<munder>${sign}${sub}</munder>`
        : sup !== undefined
          ? `<mover>${sign}${sup}</mover>`
          : sign;
  return `<mrow>${operator}${partOf(parts, 'm:e')}</mrow>`;
}

function delimited(parts: readonly Part[], element: XmlElement): string {
  const fence = (name: string, usual: string) => valueAt(element, 'm:dPr', name) ?? usual;
  const [open, close, separator] = [fence('m:begChr', '('), fence('m:endChr', ')'), fence('m:sepChr', '|')];
  const inner = parts.map(({ html }) => html).join(mo(separator));
  return `<mrow>${open === '' ? '' : mo(open)}${inner}${close === '' ? '' : mo(close)}</mrow>`;
}

const VARIANTS: Readonly<Record<string, string>> = {
  'double-struck': 'double-struck',
  script: 'script',
  fraktur: 'fraktur',
  'sans-serif': 'sans-serif',
  monospace: 'monospace',
};

function runHtml(run: XmlElement, isFunctionName: boolean, isTop: boolean): string {
  let text = '';
  for (const node of run.children) {
    if (typeof node !== 'string' && (node.name === 'm:t' || node.name === 'w:t')) text += textOf(node);
  }
  if (text === '') return '';
  const properties = child(run, 'm:rPr');
  if (run.name === 'w:r' || child(properties, 'm:nor')) return `<mtext>${escapeText(text)}</mtext>`;
  const style = properties && valueAt(properties, 'm:sty');
  const script = ownValue(VARIANTS, (properties && valueAt(properties, 'm:scr')) ?? '');
  const variant = script ?? (style === 'b' ? 'bold' : style === 'bi' ? 'bold-italic' : undefined);
  const found = tokens(text, variant, isFunctionName || style === 'p');
  return found.length < 2 || isTop ? found.join('') : `<mrow>${found.join('')}</mrow>`;
}

/** Wraps each number, name and operator in its own element. Letters stay separate unless they form a name. */
function tokens(text: string, variant: string | undefined, isName: boolean): string[] {
  const marked = variant === undefined ? '' : ` mathvariant="${variant}"`;
  // Word uses mathematical italic characters, which mean the same as plain letters.
  const plain = text.replace(/[\u{1d400}-\u{1d7ff}]/gu, (letter) => letter.normalize('NFKC'));
  const html: string[] = [];
  for (const { groups } of plain.matchAll(
    /(?<number>\d[\d.,]*)|(?<name>\p{L}[\p{L}\p{M}]*)|(?<space>\s+)|(?<sign>[\s\S])/gu,
  )) {
    const { number, name, space, sign } = groups!;
    if (number !== undefined) {
      const digits = number.replace(/[.,]+$/, '');
      html.push(`<mn${marked}>${digits}</mn>`);
      if (digits.length < number.length) html.push(mo(number.slice(digits.length)));
    } else if (name !== undefined) {
      const letters = isName ? [name] : [...name];
      html.push(...letters.map((letter) => `<mi${marked}>${escapeText(letter)}</mi>`));
    } else if (space === undefined) html.push(mo(sign!));
  }
  return html;
}
