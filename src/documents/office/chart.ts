/** Charts (DrawingML, ECMA-376 part 1, 21.2): their titles, and the cached values as a table. */
import { attribute, child, childAt, children, descendants, textOf, type XmlElement } from '../xml/xml.ts';
import { cellHtml } from './html-output.ts';
import { compileFormat, general } from './sheet/number-format.ts';

export interface Series {
  /** As HTML, like all texts. */
  readonly name: string;
  /** A value belongs to the category with the same index. */
  readonly categories: readonly string[];
  readonly values: readonly string[];
  /** Name of the sheet of this workbook that contains the values; `undefined` if only the chart contains them. */
  readonly sheet: string | undefined;
}

export interface Chart {
  /** The chart's title as HTML; '' if it has none. */
  readonly title: string;
  /** Titles of the axes. */
  readonly axes: readonly string[];
  readonly series: readonly Series[];
}

/** Maximum number of values read per series. */
const MAX_POINTS = 5_000;
const MAX_SERIES = 200;

export function readChart(root: XmlElement | undefined): Chart {
  const chart = child(root, 'c:chart');
  const title = childAt(chart, 'c:title', 'c:tx');
  const found = chart ? [...descendants(chart, 'c:ser')].slice(0, MAX_SERIES) : [];
  const series = found.flatMap((one): Series[] => {
    const categories = valuesOf(child(one, 'c:cat') ?? child(one, 'c:xVal'));
    const name = nameOf(child(one, 'c:tx'));
    const values = child(one, 'c:val') ?? child(one, 'c:yVal');
    const sizes = child(one, 'c:bubbleSize');
    const sheet = sheetOf(values);
    const main = { name, categories, values: valuesOf(values), sheet };
    return sizes ? [main, { name: `${name} (size)`.trim(), categories, values: valuesOf(sizes), sheet }] : [main];
  });
  const only = series.length === 1 ? series[0]!.name : '';
  return {
    title: textOfTitle(title) || (title === undefined && hasTitle(chart) ? only : ''),
    axes: axesOf(child(chart, 'c:plotArea')),
    series,
  };
}

function axesOf(plotArea: XmlElement | undefined): string[] {
  const axes = children(plotArea).filter(({ name }) => /^c:(?:cat|val|date|ser)Ax$/.test(name));
  return axes.map((axis) => textOfTitle(childAt(axis, 'c:title', 'c:tx'))).filter((text) => text !== '');
}

/** The sheet in a reference such as `'Sheet 1'!$B$2:$B$9`. References to other files begin with a bracket. */
function sheetOf(values: XmlElement | undefined): string | undefined {
  const formula = textOf(childAt(values, 'c:numRef', 'c:f')).trim();
  const found = /^\(?(?:'((?:[^']|'')*)'|([^'!()[\]]+))!/.exec(formula.slice(0, 200));
  const name = found?.[1]?.replaceAll("''", "'") ?? found?.[2];
  return name === undefined || name.includes('[') ? undefined : name;
}

/** A chart with one series shows the name of the series as its automatic title. */
const hasTitle = (chart: XmlElement | undefined): boolean => {
  const deleted = child(chart, 'c:autoTitleDeleted');
  return child(chart, 'c:title') !== undefined && (deleted ? attribute(deleted, 'val') : '0') !== '1';
};

function textOfTitle(title: XmlElement | undefined): string {
  const rich = child(title, 'c:rich');
  if (!rich) return nameOf(title);
  const lines = children(rich, 'a:p').map((paragraph) => [...descendants(paragraph, 'a:t')].map(textOf).join(''));
  return cellHtml(lines.join(' ').replace(/\s+/g, ' '));
}

function nameOf(tx: XmlElement | undefined): string {
  const cached = childAt(tx, 'c:strRef', 'c:strCache');
  const values = cached ? pointsOf(cached, undefined) : [textOf(child(tx, 'c:v'))];
  return cellHtml(values.filter(Boolean).join(' '));
}

/** If the categories have several levels, returns the innermost one. */
function valuesOf(holder: XmlElement | undefined): string[] {
  if (!holder) return [];
  const cache = [...descendants(holder)].find(({ name }) => /^c:(?:str|num)(?:Cache|Lit)$|^c:lvl$/.test(name));
  if (!cache) return [];
  const code = textOf(child(cache, 'c:formatCode'));
  const values = pointsOf(cache, cache.name.startsWith('c:num') ? code || 'General' : undefined);
  return values.map(cellHtml);
}

function pointsOf(cache: XmlElement, code: string | undefined): string[] {
  const format = code === undefined || /^general$/i.test(code) ? undefined : compileFormat(code, false);
  const values: string[] = [];
  for (const point of children(cache, 'c:pt')) {
    const at = Number(attribute(point, 'idx'));
    if (!(at >= 0 && at < MAX_POINTS)) continue;
    const text = textOf(child(point, 'c:v'));
    const number = Number(text);
    values[at] =
      code === undefined || text === '' || Number.isNaN(number)
        ? text
        : format
          ? format.number(number)
          : general(number);
  }
  return Array.from(values, (value) => value ?? '');
}

/** The title and the axes of a chart as paragraphs; '' if it has neither. */
export function chartHead({ title, axes }: Chart): string {
  const lines = [title === '' ? '' : `<b>${title}</b>`, axes.length > 0 ? `Axes: ${axes.join(', ')}` : ''];
  return lines.map((line) => (line === '' ? '' : `<p>${line}</p>\n`)).join('');
}

/**
 * A row per category and a column per series; '' if the file has no cached values. Series with other categories than
 * the first one, as in scatter charts, have a column of categories of their own.
 */
export function chartTable({ series }: Chart): string {
  const filled = series.filter(({ values }) => values.length > 0);
  if (filled.length === 0) return '';
  const columns: { readonly head: string; readonly values: readonly string[] }[] = [];
  let shared: readonly string[] | undefined;
  for (const { name, categories, values } of filled) {
    if (shared === undefined || (categories.length > 0 && !isPrefix(categories, shared))) {
      shared = shared === undefined ? longest(filled, categories) : categories;
      columns.push({ head: '', values: shared });
    }
    columns.push({ head: name, values });
  }
  const length = Math.max(...columns.map(({ values }) => values.length));
  const cells = (tag: string, values: readonly string[]) => values.map((value) => `<${tag}>${value}</${tag}>`).join('');
  const rows = Array.from(
    { length },
    (_, at) =>
      `<tr>${cells(
        'td',
        columns.map(({ values }) => values[at] ?? ''),
      )}</tr>`,
  );
  const head = cells(
    'th',
    columns.map((column) => column.head),
  );
  return `<table><thead><tr>${head}</tr></thead><tbody>${rows.join('\n')}</tbody></table>\n`;
}

const isPrefix = (some: readonly string[], all: readonly string[]): boolean =>
  some.length <= all.length && some.every((value, at) => value === all[at]);

/** The longest list of categories that begins with those of the first series. */
const longest = (series: readonly Series[], first: readonly string[]): readonly string[] =>
  series.reduce(
    (best, { categories }) => (categories.length > best.length && isPrefix(best, categories) ? categories : best),
    first,
  );
