/**
 * Word styles: resolves the properties that a paragraph or run inherits from its style and base styles.
 * `../style-names.ts` decides which styles are headings.
 */
import { attribute, child, childAt, children, find, type XmlElement } from '../../xml/xml.ts';
import { isCodeFont } from '../fonts.ts';
import { mergeStyles, type RunStyle } from '../run-style.ts';

export interface NumberingUse {
  readonly numId: string | undefined;
  readonly level: number | undefined;
}

export interface ParagraphStyle {
  readonly id: string;
  /** In lower case. Built-in names are English in every language of Word. */
  readonly name: string;
  /** Including the names of base styles, nearest first. */
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
  /** The properties of a character style; empty if there is none. */
  character(id: string | undefined): RunStyle;
  /** The name of a style in lower case; `undefined` if there is none. */
  nameOf(id: string): string | undefined;
  /** Whether a table style formats the first row differently. */
  marksFirstRow(id: string | undefined): boolean;
  /** The numbering of a numbering style. */
  numberingOf(id: string): string | undefined;
  /** Whether the whole document uses a code font, so that the font has no meaning. */
  readonly allCode: boolean;
  /** Language of the whole document. */
  readonly language: string | undefined;
}

/** An on/off property: true if present and not set to off. */
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

/** In half points: smaller offsets are only adjustments, not superscript. */
const RAISED_BY = 4;

/** Reads run properties (`w:rPr`). */
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
        // Half points. A run marked as superscript often has a raised position too.
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
        grounded ||= isColoredBackground(property);
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

/** Returns `undefined` for theme fonts, which have no name. */
const codeOf = (font: string | undefined): boolean | undefined => (font === undefined ? undefined : isCodeFont(font));

/** Whether shading gives the text a background other than white. */
export const isColoredBackground = (shading: XmlElement | undefined): boolean => {
  if (!shading) return false;
  const fill = attribute(shading, 'w:fill') ?? 'auto';
  const pattern = attribute(shading, 'w:val') ?? 'clear';
  return (
    !/^(?:auto|ffffff)$/i.test(fill) ||
    attribute(shading, 'w:themeFill') !== undefined ||
    !/^(?:clear|nil)$/.test(pattern)
  );
};

export function numberingOf(properties: XmlElement | undefined): NumberingUse | undefined {
  const numbering = child(properties, 'w:numPr');
  if (!numbering) return undefined;
  return { numId: valOf(numbering, 'w:numId'), level: numberOf(valOf(numbering, 'w:ilvl')) };
}

/** In twentieths of a point, from the start side of the line. */
export function indentOf(properties: XmlElement | undefined): number | undefined {
  const indent = child(properties, 'w:ind');
  return indent && numberOf(attribute(indent, 'w:start') ?? attribute(indent, 'w:left'));
}

export const outlineLevelOf = (properties: XmlElement | undefined): number | undefined =>
  numberOf(valOf(properties, 'w:outlineLvl'));

/** Longer chains of base styles are cyclic or malicious. */
const LONGEST_CHAIN = 32;

export function readStyles(root: XmlElement | undefined): Styles {
  return new StyleSheet(root);
}

class StyleSheet implements Styles {
  readonly allCode: boolean;
  readonly language: string | undefined;
  readonly #byId = new Map<string, XmlElement>();
  readonly #defaultParagraph: string | undefined;
  readonly #paragraphs = new Map<string, ParagraphStyle>();
  readonly #characters = new Map<string, RunStyle>();

  constructor(root: XmlElement | undefined) {
    for (const style of children(root, 'w:style')) {
      const id = attribute(style, 'w:styleId') ?? '';
      const isDefault = isOnValue(attribute(style, 'w:default') ?? '0');
      if (!this.#byId.has(id)) this.#byId.set(id, style);
      if (isDefault && attribute(style, 'w:type') === 'paragraph') this.#defaultParagraph = id;
    }
    const defaults = childAt(root, 'w:docDefaults', 'w:rPrDefault', 'w:rPr');
    const plain = this.#byId.get(this.#defaultParagraph ?? '');
    this.allCode = mergeStyles(runStyleOf(child(plain, 'w:rPr')), runStyleOf(defaults)).code === true;
    this.language = defaults && attribute(find(defaults, 'w:lang') ?? defaults, 'w:val');
  }

  paragraph(id = this.#defaultParagraph ?? ''): ParagraphStyle {
    let style = this.#paragraphs.get(id);
    if (!style) {
      style = paragraphStyle(id, this.#chainOf(id));
      this.#paragraphs.set(id, style);
    }
    return style;
  }

  character(id: string | undefined): RunStyle {
    if (id === undefined) return {};
    let style = this.#characters.get(id);
    if (!style) {
      style = characterStyle(this.#chainOf(id));
      this.#characters.set(id, style);
    }
    return style;
  }

  nameOf(id: string): string | undefined {
    return valOf(this.#byId.get(id), 'w:name')?.toLowerCase();
  }

  marksFirstRow(id: string | undefined): boolean {
    const marks = (part: XmlElement) => attribute(part, 'w:type') === 'firstRow';
    return id !== undefined && this.#chainOf(id).some((style) => children(style, 'w:tblStylePr').some(marks));
  }

  numberingOf(id: string): string | undefined {
    return numberingOf(child(this.#byId.get(id), 'w:pPr'))?.numId;
  }

  /** A style and its base styles, nearest first. */
  #chainOf(id: string): XmlElement[] {
    const chain: XmlElement[] = [];
    for (let style = this.#byId.get(id); style && chain.length < LONGEST_CHAIN; ) {
      if (chain.includes(style)) break;
      chain.push(style);
      // A style may lack an id, and a base style may be missing: neither stands for the other.
      const base = valOf(style, 'w:basedOn');
      style = base === undefined ? undefined : this.#byId.get(base);
    }
    return chain;
  }
}

const runOf = (chain: readonly XmlElement[]): RunStyle =>
  chain.reduceRight((below, style) => mergeStyles(runStyleOf(child(style, 'w:rPr')), below), {});

function paragraphStyle(id: string, chain: readonly XmlElement[]): ParagraphStyle {
  const properties = chain.map((style) => child(style, 'w:pPr'));
  const first = <T>(read: (element: XmlElement | undefined) => T | undefined): T | undefined => {
    for (const element of properties) {
      const value = read(element);
      if (value !== undefined) return value;
    }
    return undefined;
  };
  const names = chain.map((style) => (valOf(style, 'w:name') ?? '').toLowerCase());
  const numId = first((element) => numberingOf(element)?.numId);
  const level = first((element) => numberingOf(element)?.level);
  return {
    id,
    name: names[0] ?? id.toLowerCase(),
    names,
    outlineLevel: first(outlineLevelOf),
    numbering: numId === undefined ? undefined : { numId, level },
    indent: first(indentOf),
    shaded: properties.some((element) => isColoredBackground(child(element, 'w:shd'))),
    breakBefore: first((element) => isOn(element, 'w:pageBreakBefore')) ?? false,
    run: runOf(chain),
  };
}

const CODE_NAMES = /^(?:html (?:code|keyboard|sample|typewriter)|verbatim char|source text|inline code|code)$/i;

function characterStyle(chain: readonly XmlElement[]): RunStyle {
  const names = chain.map((style) => valOf(style, 'w:name') ?? '');
  // The style of links adds nothing to the link element.
  if (/^(?:followed)?hyperlink$/i.test(names[0]?.replace(/ /g, '') ?? '')) return {};
  const run = runOf(chain);
  return names.some((name) => CODE_NAMES.test(name)) ? { ...run, code: true } : run;
}
