/** Charts (DrawingML, ECMA-376 part 1, 21.2): their titles, and the cached values as a table. */
import { attribute, child, childAt, children, descendants, textOf, type XmlElement } from '../xml/xml.ts';
import { cellHtml } from './html-output.ts';
import { compileFormat, general } from './sheet/number-format.ts';

export interface Chart {
  /** The chart's title as HTML; '' if it has none. */
  readonly title: string;
  readonly categories: readonly string[];
  /** Names and values of a series, as HTML. A value belongs to the category with the same index. */
  readonly series: readonly { readonly name: string; readonly values: readonly string[] }[];
}

/** Maximum number of values read per series. */
const MAX_POINTS = 5_000;
const MAX_SERIES = 200;

export function readChart(root: XmlElement | undefined): Chart {
  const chart = child(root, 'c:chart');
  const title = childAt(chart, 'c:title', 'c:tx');
  const found = chart ? [...descendants(chart, 'c:ser')].slice(0, MAX_SERIES) : [];
  let categories: string[] = [];
  const series = found.map((one) => {
    const own = valuesOf(child(one, 'c:cat') ?? child(one, 'c:xVal'));
    if (own.length > categories.length) categories = own;
    const values = valuesOf(child(one, 'c:val') ?? child(one, 'c:yVal'));
    return { name: nameOf(child(one, 'c:tx')), values };
  });
  const only = series.length === 1 ? series[0]!.name : '';
  return { title: textOfTitle(title) || (title === undefined && hasTitle(chart) ? only : ''), categories, series };
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

/** A row per category and a column per series; '' if the file has no cached values. */
export function chartTable({ categories, series }: Chart): string {
  const length = Math.max(categories.length, ...series.map(({ values }) => values.length));
  if (series.length === 0 || length === 0 || series.every(({ values }) => values.length === 0)) return '';
  const cells = (tag: string, values: readonly string[]) => values.map((value) => `<${tag}>${value}</${tag}>`).join('');
  const head = cells('th', ['', ...series.map(({ name }) => name)]);
  const rows = Array.from(
    { length },
    (_, at) => `<tr>${cells('td', [categories[at] ?? '', ...series.map(({ values }) => values[at] ?? '')])}</tr>`,
  );
  return `<table><thead><tr>${head}</tr></thead><tbody>${rows.join('\n')}</tbody></table>\n`;
}
