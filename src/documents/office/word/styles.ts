/** Styles of Word: what a paragraph or run inherits from its style and from those that it is based on. */
import { attribute, child, childAt, children, find, type XmlElement } from '../../xml/xml.ts';
import { isCodeFont } from './fonts.ts';

/** Undefined where nothing is said. */
export interface RunStyle {
  bold?: boolean | undefined;
  italic?: boolean | undefined;
  strike?: boolean | undefined;
  hidden?: boolean | undefined;
  code?: boolean | undefined;
  raised?: 'sup' | 'sub' | 'none' | undefined;
  /** White letters without a ground of their own. */
  white?: boolean | undefined;
  /** A size that nobody can read. */
  tiny?: boolean | undefined;
}

export interface NumberingUse {
  readonly numId: string | undefined;
  readonly level: number | undefined;
}

export interface ParagraphStyle {
  readonly id: string;
  /** Built-in names are English in every language of Word; lower case. */
  readonly name: string;
  /** Names of the styles that it is based on as well, nearest first. */
  readonly names: readonly string[];
  readonly outlineLevel: number | undefined;
  readonly numbering: NumberingUse | undefined;
  readonly indent: number | undefined;
  readonly shaded: boolean;
  readonly breakBefore: boolean;
  readonly run: RunStyle;
}

export interface Styles {
  paragraph(id: string | undefined): ParagraphStyle;
  /** What a character style says; an empty record for none. */
  character(id: string | undefined): RunStyle;
  /** Whether a table style shows the first row as something else. */
  marksFirstRow(id: string | undefined): boolean;
  /** The numbering of a numbering style. */
  numberingOf(id: string): string | undefined;
  /** Whether the text of the whole document is in a code font, which then says nothing. */
  readonly allCode: boolean;
  /** Of the whole document. */
  readonly language: string | undefined;
}

/** A switch: present and not said to be off. */
export function isOn(parent: XmlElement | undefined, name: string): boolean | undefined {
  const element = child(parent, name);
  return element && isOnValue(attribute(element, 'w:val'));
}

const isOnValue = (value: string | undefined): boolean => value === undefined || !/^(?:0|false|off|none)$/i.test(value);

export const valOf = (parent: XmlElement | undefined, name: string): string | undefined => {
  const element = child(parent, name);
  return element && attribute(element, 'w:val');
};

const numberOf = (text: string | undefined): number | undefined => {
  const value = Number.parseInt(text ?? '', 10);
  return Number.isNaN(value) ? undefined : value;
};

const RAISED_BY = 4;

/** What run properties (`w:rPr`) say. */
export function runStyleOf(properties: XmlElement | undefined): RunStyle {
  const style: RunStyle = {};
  if (!properties) return style;
  let color: string | undefined;
  let grounded = false;
  for (const property of properties.children) {
    if (typeof property === 'string') continue;
    const value = attribute(property, 'w:val');
    switch (property.name) {
      case 'w:b':
        style.bold = isOnValue(value);
        break;
      case 'w:i':
        style.italic = isOnValue(value);
        break;
      case 'w:strike':
      case 'w:dstrike':
        style.strike = isOnValue(value) || (style.strike ?? false);
        break;
      case 'w:vanish':
        style.hidden = isOnValue(value);
        break;
      case 'w:vertAlign':
        style.raised = value === 'superscript' ? 'sup' : value === 'subscript' ? 'sub' : 'none';
        break;
      case 'w:position':
        // Half points; what is raised as a whole has a size of its own as well.
        if (style.raised === undefined && Math.abs(Number(value)) >= RAISED_BY)
          style.raised = Number(value) > 0 ? 'sup' : 'sub';
        break;
      case 'w:rFonts':
        style.code = codeOf(attribute(property, 'w:ascii') ?? attribute(property, 'w:hAnsi'));
        break;
      case 'w:color':
        color = attribute(property, 'w:themeColor') === undefined ? value : undefined;
        if (value !== undefined) style.white = false;
        break;
      case 'w:sz':
        style.tiny = Number(value) > 0 && Number(value) <= 2;
        break;
      case 'w:shd':
        grounded ||= isGround(property);
        break;
      case 'w:highlight':
        grounded ||= value !== 'none' && value !== 'white';
        break;
    }
  }
  if (grounded) style.white = false;
  else if (color !== undefined) style.white = color.toUpperCase() === 'FFFFFF';
  return style;
}

/** Undefined for fonts that are not named: a theme's. */
const codeOf = (font: string | undefined): boolean | undefined => (font === undefined ? undefined : isCodeFont(font));

/** Whether shading puts something other than white behind the text. */
export const isGround = (shading: XmlElement | undefined): boolean => {
  if (!shading) return false;
  const fill = attribute(shading, 'w:fill') ?? 'auto';
  const pattern = attribute(shading, 'w:val') ?? 'clear';
  return (
    !/^(?:auto|ffffff)$/i.test(fill) ||
    attribute(shading, 'w:themeFill') !== undefined ||
    !/^(?:clear|nil)$/.test(pattern)
  );
};

/** The first style over the second. */
export function over(first: RunStyle, second: RunStyle): RunStyle {
  const merged: RunStyle = { ...second };
  for (const [name, value] of Object.entries(first)) if (value !== undefined) Object.assign(merged, { [name]: value });
  return merged;
}

export function numberingOf(properties: XmlElement | undefined): NumberingUse | undefined {
  const numbering = child(properties, 'w:numPr');
  if (!numbering) return undefined;
  return { numId: valOf(numbering, 'w:numId'), level: numberOf(valOf(numbering, 'w:ilvl')) };
}

/** In twentieths of a point, from the side where lines begin. */
export function indentOf(properties: XmlElement | undefined): number | undefined {
  const indent = child(properties, 'w:ind');
  return indent && numberOf(attribute(indent, 'w:start') ?? attribute(indent, 'w:left'));
}

export const outlineLevelOf = (properties: XmlElement | undefined): number | undefined =>
  numberOf(valOf(properties, 'w:outlineLvl'));

/** Chains of styles longer than this are somebody's joke. */
const LONGEST_CHAIN = 32;

export function readStyles(root: XmlElement | undefined): Styles {
  const byId = new Map<string, XmlElement>();
  let defaultParagraph: string | undefined;
  for (const style of children(root, 'w:style')) {
    const id = attribute(style, 'w:styleId') ?? '';
    const isDefault = isOnValue(attribute(style, 'w:default') ?? '0');
    if (!byId.has(id)) byId.set(id, style);
    if (isDefault && attribute(style, 'w:type') === 'paragraph') defaultParagraph = id;
  }
  const defaults = childAt(root, 'w:docDefaults', 'w:rPrDefault', 'w:rPr');
  const baseRun = over(runStyleOf(child(byId.get(defaultParagraph ?? ''), 'w:rPr')), runStyleOf(defaults));
  const allCode = baseRun.code === true;

  const chainOf = (id: string): XmlElement[] => {
    const chain: XmlElement[] = [];
    for (let style = byId.get(id); style && chain.length < LONGEST_CHAIN; ) {
      if (chain.includes(style)) break;
      chain.push(style);
      style = byId.get(valOf(style, 'w:basedOn') ?? '');
    }
    return chain;
  };
  const runOf = (chain: readonly XmlElement[]): RunStyle =>
    chain.reduceRight((below, style) => over(runStyleOf(child(style, 'w:rPr')), below), {});

  const paragraphs = new Map<string, ParagraphStyle>();
  const characters = new Map<string, RunStyle>();
  const resolveParagraph = (id: string): ParagraphStyle => {
    const chain = chainOf(id);
    const properties = chain.map((style) => child(style, 'w:pPr'));
    const first = <T>(read: (element: XmlElement | undefined) => T | undefined): T | undefined => {
      for (const element of properties) {
        const value = read(element);
        if (value !== undefined) return value;
      }
      return undefined;
    };
    const names = chain.map((style) => (valOf(style, 'w:name') ?? '').toLowerCase());
    const own = numberingOf(properties[0]);
    const numbered = first((element) => numberingOf(element)?.numId);
    return {
      id,
      name: names[0] ?? id.toLowerCase(),
      names,
      outlineLevel: first(outlineLevelOf),
      numbering:
        numbered === undefined
          ? undefined
          : { numId: numbered, level: own?.level ?? first((e) => numberingOf(e)?.level) },
      indent: first(indentOf),
      shaded: properties.some((element) => isGround(child(element, 'w:shd'))),
      breakBefore: first((element) => isOn(element, 'w:pageBreakBefore')) ?? false,
      run: runOf(chain),
    };
  };

  return {
    paragraph(id = defaultParagraph ?? '') {
      let style = paragraphs.get(id);
      if (!style) {
        style = resolveParagraph(id);
        paragraphs.set(id, style);
      }
      return style;
    },
    character(id) {
      if (id === undefined) return {};
      let style = characters.get(id);
      if (!style) {
        const chain = chainOf(id);
        const names = chain.map((element) => valOf(element, 'w:name') ?? '');
        style = runOf(chain);
        if (
          names.some((name) =>
            /^(?:html (?:code|keyboard|sample|typewriter)|verbatim char|source text|inline code|code)$/i.test(name),
          )
        ) {
          style = { ...style, code: true };
        }
        // The look of links says nothing that the link does not say.
        if (/^(?:followed)?hyperlink$/i.test(names[0]?.replace(/ /g, '') ?? '')) style = {};
        characters.set(id, style);
      }
      return style;
    },
    marksFirstRow: (id) =>
      id !== undefined &&
      chainOf(id).some((style) =>
        children(style, 'w:tblStylePr').some((part) => attribute(part, 'w:type') === 'firstRow'),
      ),
    numberingOf: (id) => numberingOf(child(byId.get(id), 'w:pPr'))?.numId,
    allCode,
    language: defaults && attribute(find(defaults, 'w:lang') ?? defaults, 'w:val'),
  };
}
