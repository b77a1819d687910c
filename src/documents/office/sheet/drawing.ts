/** Objects over the cells of a sheet: images, text boxes and charts. */
import { attribute, child, childAt, children, descendants, textOf, type XmlElement } from '../../xml/xml.ts';
import { chartTable, readChart } from '../chart.ts';
import { cellHtml } from '../html-output.ts';
import type { Package } from '../package.ts';
import type { Draw } from '../pictures.ts';

const MAX_SHAPES = 5_000;

/** `isShown`: whether a sheet's cells are in the result, so that charts need not repeat them. */
export function drawingHtml(source: Package, part: string, draw: Draw, isShown: (sheet: string) => boolean): string {
  const root = source.xml(part);
  if (!root) return '';
  const targets = new Map(source.relationships(part).map(({ id, target, external }) => [id, external ? '' : target]));
  const out: string[] = [];
  let shapes = 0;
  for (const element of descendants(root)) {
    if (++shapes > MAX_SHAPES * 100 || out.length >= MAX_SHAPES) break;
    if (element.name === 'xdr:pic') out.push(paragraph(pictureOf(element, targets, draw)));
    else if (element.name === 'xdr:sp') out.push(paragraph(textOfShape(child(element, 'xdr:txBody'))));
    else if (element.name === 'c:chart') {
      out.push(chartHtml(source.xml(targets.get(attribute(element, 'r:id') ?? '')), isShown));
    }
  }
  return out.join('');
}

const paragraph = (html: string): string => (html === '' ? '' : `<p>${html}</p>\n`);

function pictureOf(picture: XmlElement, targets: ReadonlyMap<string, string>, draw: Draw): string {
  const facts = childAt(picture, 'xdr:nvPicPr', 'xdr:cNvPr');
  if (facts && attribute(facts, 'hidden') === '1') return '';
  const blip = childAt(picture, 'xdr:blipFill', 'a:blip');
  const target = targets.get((blip && attribute(blip, 'r:embed')) ?? '');
  return draw(target || undefined, (facts && attribute(facts, 'descr')) ?? '');
}

const textOfShape = (body: XmlElement | undefined): string =>
  children(body, 'a:p')
    .map((paragraph) => cellHtml([...descendants(paragraph, 'a:t')].map(textOf).join('')))
    .filter((line) => line !== '')
    .join('<br>');

/** A line with the chart's texts, and its values as a table if they are not in the cells of a shown sheet. */
function chartHtml(root: XmlElement | undefined, isShown: (sheet: string) => boolean): string {
  const chart = readChart(root);
  const hasCells = chart.series.every(({ sheet }) => sheet !== undefined && isShown(sheet));
  const names = chart.series.map(({ name }) => name).filter((name) => name !== '' && name !== chart.title);
  const facts = [
    chart.title,
    chart.axes.length > 0 ? `axes: ${chart.axes.join(', ')}` : '',
    hasCells && names.length > 0 ? `series: ${names.join(', ')}` : '',
  ].filter((fact) => fact !== '');
  const line = facts.length > 0 ? `Chart: ${facts.join('; ')}` : '';
  return paragraph(line) + (hasCells ? '' : chartTable(chart));
}
