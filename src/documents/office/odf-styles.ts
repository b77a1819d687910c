/** Styles and list styles of OpenDocument (version 1.3, part 3, chapters 16 and 20). */
import { attribute, child, children, type XmlElement } from '../xml/xml.ts';
import { isCodeFont } from './fonts.ts';
import { mergeStyles, type RunStyle } from './run-style.ts';

export interface OdfStyle {
  /** Display names of the style and its parents, in lower case, nearest first. */
  readonly names: readonly string[];
  readonly run: RunStyle;
  readonly outlineLevel: number | undefined;
  readonly listStyle: string | undefined;
  readonly breakBefore: boolean;
  readonly breakAfter: boolean;
  readonly shaded: boolean;
  readonly masterPage: string;
}

export interface ListLevel {
  readonly bullet: boolean;
  readonly start: number;
  /** `1`, `a`, `A`, `i`, `I`, or '' for hidden numbers. */
  readonly format: string;
  readonly prefix: string;
  readonly suffix: string;
  /** Number of levels shown: 2 for `1.2`. */
  readonly shown: number;
}

export interface OdfStyles {
  style(family: string, name: string | undefined): OdfStyle;
  listLevel(name: string | undefined, level: number): ListLevel | undefined;
  /** The numbering of headings. */
  outlineLevel(level: number): ListLevel | undefined;
  readonly language: string | undefined;
}

const PLAIN: OdfStyle = {
  names: [],
  run: {},
  outlineLevel: undefined,
  listStyle: undefined,
  breakBefore: false,
  breakAfter: false,
  shaded: false,
  masterPage: '',
};

/** Longer chains of parent styles are cyclic or malicious. */
const LONGEST_CHAIN = 32;

/** Collects the children of `office:styles`, `office:automatic-styles` and `office:font-face-decls` in file order. */
export class StyleCollector implements OdfStyles {
  readonly #elements = new Map<string, XmlElement>();
  readonly #lists = new Map<string, ReadonlyMap<number, ListLevel>>();
  readonly #fonts = new Map<string, string>();
  readonly #resolved = new Map<string, OdfStyle>();
  #outline: ReadonlyMap<number, ListLevel> = new Map();
  language: string | undefined;

  take(element: XmlElement): void {
    const name = attribute(element, 'style:name') ?? '';
    switch (element.name) {
      case 'style:style':
        this.#elements.set(keyOf(attribute(element, 'style:family') ?? '', name), element);
        break;
      case 'style:default-style':
        this.#takeDefault(element);
        break;
      case 'style:font-face':
        this.#fonts.set(name, attribute(element, 'svg:font-family') ?? name);
        break;
      case 'text:list-style':
        this.#lists.set(name, levelsOf(element));
        break;
      case 'text:outline-style':
        this.#outline = levelsOf(element);
        break;
    }
  }

  #takeDefault(element: XmlElement): void {
    const properties = child(element, 'style:text-properties');
    if (attribute(element, 'style:family') !== 'paragraph' || !properties) return;
    const language = attribute(properties, 'fo:language') ?? 'none';
    const country = attribute(properties, 'fo:country') ?? 'none';
    if (/^[a-z]{2,3}$/.test(language)) this.language = /^[A-Z]{2}$/.test(country) ? `${language}-${country}` : language;
  }

  style(family: string, name: string | undefined): OdfStyle {
    if (name === undefined) return PLAIN;
    const key = keyOf(family, name);
    let style = this.#resolved.get(key);
    if (!style) {
      style = this.#resolve(family, name);
      this.#resolved.set(key, style);
    }
    return style;
  }

  listLevel(name: string | undefined, level: number): ListLevel | undefined {
    return name === undefined ? undefined : this.#lists.get(name)?.get(level);
  }

  outlineLevel(level: number): ListLevel | undefined {
    return this.#outline.get(level);
  }

  #resolve(family: string, name: string): OdfStyle {
    const chain: XmlElement[] = [];
    for (let element = this.#elements.get(keyOf(family, name)); element && chain.length < LONGEST_CHAIN; ) {
      if (chain.includes(element)) break;
      chain.push(element);
      // A missing parent is not the style without a name.
      const parent = attribute(element, 'style:parent-style-name');
      element = parent === undefined ? undefined : this.#elements.get(keyOf(family, parent));
    }
    const first = (read: (element: XmlElement) => string | undefined): string | undefined => {
      for (const element of chain) {
        const value = read(element);
        if (value !== undefined) return value;
      }
      return undefined;
    };
    const paragraph = (property: string) =>
      first((element) => {
        const properties = child(element, 'style:paragraph-properties');
        return properties && attribute(properties, property);
      });
    const outline = Number(first((element) => attribute(element, 'style:default-outline-level')) || Number.NaN);
    const run = chain.reduceRight((below, element) => mergeStyles(this.#runOf(element), below), {});
    return {
      names: chain.length === 0 ? [shownName(name)] : chain.map(nameOf),
      run,
      outlineLevel: outline > 0 ? outline : undefined,
      listStyle: first((element) => attribute(element, 'style:list-style-name')),
      breakBefore: paragraph('fo:break-before') === 'page',
      breakAfter: paragraph('fo:break-after') === 'page',
      shaded: isColor(paragraph('fo:background-color')),
      masterPage: chain[0] ? (attribute(chain[0], 'style:master-page-name') ?? '') : '',
    };
  }

  #runOf(element: XmlElement): RunStyle {
    const properties = child(element, 'style:text-properties');
    if (!properties) return {};
    const value = (name: string) => attribute(properties, name);
    const font = value('style:font-name');
    const family = value('fo:font-family') ?? (font && (this.#fonts.get(font) ?? font));
    const struck = value('style:text-line-through-type') ?? value('style:text-line-through-style');
    const color = value('fo:color');
    const ground = isColor(value('fo:background-color'));
    const size = /^([\d.]+)pt$/.exec(value('fo:font-size') ?? '')?.[1];
    return {
      bold: weightOf(value('fo:font-weight')),
      italic: value('fo:font-style') && value('fo:font-style') !== 'normal' ? true : value('fo:font-style') && false,
      strike: struck === undefined ? undefined : struck !== 'none',
      hidden: value('text:display') === undefined ? undefined : value('text:display') === 'none',
      code: family === undefined ? undefined : isCodeFont(family),
      raised: raisedBy(value('style:text-position')),
      white: ground ? false : color === undefined ? undefined : color.toLowerCase() === '#ffffff',
      tiny: size === undefined ? undefined : Number(size) <= 1,
    } as RunStyle;
  }
}

const keyOf = (family: string, name: string): string => `${family} ${name}`;

/** Decodes characters that names cannot contain: `Heading_20_1`. */
const shownName = (name: string): string =>
  name
    .replace(/_([0-9a-f]{2,4})_/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
    .toLowerCase();

const nameOf = (element: XmlElement): string =>
  attribute(element, 'style:display-name')?.toLowerCase() ?? shownName(attribute(element, 'style:name') ?? '');

const isColor = (color: string | undefined): boolean =>
  color !== undefined && color !== 'transparent' && color.toLowerCase() !== '#ffffff';

const weightOf = (weight: string | undefined): boolean | undefined =>
  weight === undefined ? undefined : weight === 'bold' || Number(weight) >= 600;

/** Parses `super 58%`, `-33% 80%` or `0% 100%`. */
function raisedBy(position: string | undefined): RunStyle['raised'] {
  if (position === undefined) return undefined;
  if (position.startsWith('super')) return 'sup';
  if (position.startsWith('sub')) return 'sub';
  const percent = Number.parseFloat(position);
  return percent > 0 ? 'sup' : percent < 0 ? 'sub' : 'none';
}

function levelsOf(style: XmlElement): ReadonlyMap<number, ListLevel> {
  return new Map(
    children(style).map((element) => [
      Number(attribute(element, 'text:level')),
      {
        bullet: element.name === 'text:list-level-style-bullet' || element.name === 'text:list-level-style-image',
        start: Number(attribute(element, 'text:start-value') ?? '1'),
        format: attribute(element, 'style:num-format') ?? '',
        prefix: attribute(element, 'style:num-prefix') ?? '',
        suffix: attribute(element, 'style:num-suffix') ?? '',
        shown: Number(attribute(element, 'text:display-levels') ?? '1'),
      },
    ]),
  );
}
