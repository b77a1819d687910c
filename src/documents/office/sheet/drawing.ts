/** Objects over the cells of a sheet: images, text boxes, and charts (whose values are in the cells). */
import { attribute, child, childAt, children, descendants, textOf, type XmlElement } from '../../xml/xml.ts';
import { readChart } from '../chart.ts';
import { cellHtml } from '../html-output.ts';
import type { Package } from '../package.ts';
import type { Draw } from '../pictures.ts';

const MAX_SHAPES = 5_000;

export function drawingHtml(source: Package, part: string, draw: Draw): string {
  const root = source.xml(part);
  if (!root) return '';
  const targets = new Map(source.relationships(part).map(({ id, target, external }) => [id, external ? '' : target]));
  const out: string[] = [];
  let shapes = 0;
  for (const element of descendants(root)) {
    if (++shapes > MAX_SHAPES * 100 || out.length >= MAX_SHAPES) break;
    if (element.name === 'xdr:pic') out.push(pictureOf(element, targets, draw));
    else if (element.name === 'xdr:sp') out.push(textOfShape(child(element, 'xdr:txBody')));
    else if (element.name === 'c:chart') out.push(chartLine(source.xml(targets.get(attribute(element, 'r:id') ?? ''))));
  }
  return out
    .filter((html) => html !== '')
    .map((html) => `<p>${html}</p>\n`)
    .join('');
}

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

const chartLine = (root: XmlElement | undefined): string => {
  const { title } = readChart(root);
  return title === '' ? '' : `Chart: ${title}`;
};
