/**
 * Numbers and bullets of Word paragraphs: their definitions, and the counters that are used while a document is read.
 */
import { attribute, child, children, type XmlElement } from '../../xml/xml.ts';
import { formatNumber } from '../numerals.ts';
import { valOf } from './styles.ts';

export interface Level {
  readonly start: number;
  /** `decimal`, `bullet`, `lowerLetter`, ... */
  readonly format: string;
  /** `%1.%2)` with level numbers; a character for bullets. */
  readonly text: string;
  readonly style: string | undefined;
  readonly legal: boolean;
  /** The level that resets this one, counted from 1; 0 for never. */
  readonly restart: number | undefined;
  readonly indent: number | undefined;
}

export interface Definition {
  readonly abstractId: string;
  readonly levels: ReadonlyMap<number, Level>;
  /** Start values of this list, for levels that do not continue the count of their definition. */
  readonly starts: ReadonlyMap<number, number>;
}

export interface Numbered {
  readonly level: number;
  readonly bullet: boolean;
  readonly value: number;
  /** The number as shown, with its punctuation: `1.2.`, `(a)`; '' for bullets and hidden numbers. */
  readonly label: string;
  /** Whether the label is a number, letter or roman numeral with a full stop or parentheses, as in an HTML list. */
  readonly plain: boolean;
  readonly indent: number | undefined;
  readonly key: string;
}

export interface Numbering {
  /** The level of a list that is linked to a paragraph style. */
  levelOfStyle(numId: string, styleId: string): number | undefined;
  /** Counts a paragraph; `undefined` if the list does not exist. */
  next(numId: string, level: number): Numbered | undefined;
}

const LEVELS = 9;

export function readNumbering(
  root: XmlElement | undefined,
  numberingOfStyle: (id: string) => string | undefined,
): Numbering {
  const abstracts = new Map(
    children(root, 'w:abstractNum').map((item) => [attribute(item, 'w:abstractNumId') ?? '', item]),
  );
  const nums = new Map(children(root, 'w:num').map((item) => [attribute(item, 'w:numId') ?? '', item]));

  return countNumbers((numId) => {
    const num = nums.get(numId);
    let abstractId = valOf(num, 'w:abstractNumId') ?? '';
    let abstract = abstracts.get(abstractId);
    const linked = valOf(abstract, 'w:numStyleLink');
    if (linked !== undefined) {
      abstractId = valOf(nums.get(numberingOfStyle(linked) ?? ''), 'w:abstractNumId') ?? abstractId;
      abstract = abstracts.get(abstractId);
    }
    if (!num || !abstract) return undefined;
    const levels = new Map(children(abstract, 'w:lvl').map(levelEntry));
    const starts = new Map<number, number>();
    for (const override of children(num, 'w:lvlOverride')) {
      const at = Number(attribute(override, 'w:ilvl'));
      const own = child(override, 'w:lvl');
      if (own) levels.set(...levelEntry(own));
      const start = valOf(override, 'w:startOverride');
      if (start !== undefined) starts.set(at, Number(start));
    }
    return { abstractId, levels, starts };
  });
}

/** Creates counters. Each definition is looked up once. */
export function countNumbers(define: (numId: string) => Definition | undefined): Numbering {
  const definitions = new Map<string, Definition | undefined>();
  const counters = new Map<string, (number | undefined)[]>();
  const begun = new Set<string>();
  const definitionOf = (numId: string): Definition | undefined => {
    if (!definitions.has(numId)) definitions.set(numId, define(numId));
    return definitions.get(numId);
  };

  return {
    levelOfStyle(numId, styleId) {
      for (const [at, { style }] of definitionOf(numId)?.levels ?? []) if (style === styleId) return at;
      return undefined;
    },
    next(numId, level) {
      const definition = definitionOf(numId);
      const found = definition?.levels.get(level);
      if (!definition || !found || level < 0 || level >= LEVELS) return undefined;
      const counts = counters.get(definition.abstractId) ?? [];
      counters.set(definition.abstractId, counts);
      if (!begun.has(numId)) {
        begun.add(numId);
        for (const [at, start] of definition.starts) counts[at] = start - 1;
      }
      counts[level] = (counts[level] ?? found.start - 1) + 1;
      for (let deeper = level + 1; deeper < LEVELS; deeper++) {
        const { restart } = definition.levels.get(deeper) ?? {};
        if (restart === undefined || (restart > 0 && level < restart)) counts[deeper] = undefined;
      }
      return numbered(definition, counts, level, found);
    },
  };
}

function levelEntry(item: XmlElement): [number, Level] {
  const start = Number(valOf(item, 'w:start') ?? '1');
  const restart = valOf(item, 'w:lvlRestart');
  const properties = child(item, 'w:pPr');
  const indent = child(properties, 'w:ind');
  const left = indent && Number(attribute(indent, 'w:start') ?? attribute(indent, 'w:left') ?? Number.NaN);
  return [
    Number(attribute(item, 'w:ilvl')),
    {
      start: Number.isInteger(start) ? start : 1,
      format: valOf(item, 'w:numFmt') ?? 'decimal',
      text: valOf(item, 'w:lvlText') ?? '',
      style: valOf(item, 'w:pStyle'),
      legal: child(item, 'w:isLgl') !== undefined,
      restart: restart === undefined ? undefined : Number(restart),
      indent: left === undefined || Number.isNaN(left) ? undefined : left,
    },
  ];
}

const SIMPLE = /^\(?%\d[.)]?\)?$/;

function numbered(
  definition: Definition,
  counts: readonly (number | undefined)[],
  level: number,
  found: Level,
): Numbered {
  const { format, text, indent, legal } = found;
  const value = counts[level]!;
  const bullet = format === 'bullet';
  let label = '';
  if (!bullet && format !== 'none') {
    label = text.replace(/%([1-9])/g, (_, digit: string) => {
      const at = Number(digit) - 1;
      const other = definition.levels.get(at);
      const shown = legal && at < level ? 'decimal' : (other?.format ?? 'decimal');
      return shown === 'bullet' || shown === 'none' ? '' : formatNumber(counts[at] ?? other?.start ?? 1, shown);
    });
  } else if (format === 'none') label = text.replace(/%[1-9]/g, '');
  return {
    level,
    bullet: bullet || (label.trim() === '' && format === 'none'),
    value,
    label: label.trim(),
    plain: SIMPLE.test(text.trim()) && format !== 'none',
    indent,
    key: definition.abstractId,
  };
}
