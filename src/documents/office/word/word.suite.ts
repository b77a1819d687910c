/**
 * Test helpers: a known document, its conversions by other programs, and a score for the recovered share of its
 * content.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import {
  AlignmentType,
  Document,
  ExternalHyperlink,
  FootnoteReferenceRun,
  HeadingLevel,
  LevelFormat,
  Packer,
  PageBreak,
  Paragraph,
  Table,
  TableCell,
  TableRow,
  TextRun,
  WidthType,
} from 'docx';
import { type Element, elements, textOf } from '#html/node.ts';
import { parseFragment } from '#html/parse.ts';

/** Blocks of `sample` in reading order, notes at the end of their page; cells by row and column. */
export const SAMPLE_BLOCKS: readonly string[] = [
  'h1: Harbour report',
  'p: The harbour was busy in spring, and ships came from far away.[1]',
  'h2: Cargo',
  'li: Grain',
  'li: Timber',
  'li 2: Oak',
  'li 2: Pine',
  'li: Salt',
  'p: Ships are unloaded in this order:',
  '1. First the grain',
  '2. Then the timber',
  '3. Salt last',
  'h2: Tonnage',
  'cell 0,0: Port',
  'cell 0,1: Spring',
  'cell 0,2: Autumn',
  'cell 1,0: North',
  'cell 1,1: 1200',
  'cell 1,2: 900',
  'cell 2,1: closed in winter',
  'cell 3,0: South',
  'cell 3,1: 300',
  'cell 3,2: 450',
  'h3: ميناء',
  'p: السفن تصل في الصباح الباكر.',
  'h3: 港口',
  'p: 船は毎朝早く着きます。',
  'note 1: Counted by the harbour master.',
  'p: The second page begins here.',
];

const cell = (text: string, more: object = {}) => new TableCell({ children: [new Paragraph(text)], ...more });
const item = (text: string, reference: string, level = 0) => new Paragraph({ text, numbering: { reference, level } });

/** The sample as DOCX. */
export function sample(): Promise<Buffer> {
  const level = (at: number, format: (typeof LevelFormat)[keyof typeof LevelFormat], text: string) => ({
    level: at,
    format,
    text,
    alignment: AlignmentType.START,
    style: { paragraph: { indent: { left: 720 * (at + 1), hanging: 360 } } },
  });
  return Packer.toBuffer(
    new Document({
      title: 'Harbour report',
      creator: 'Port office',
      footnotes: { 1: { children: [new Paragraph('Counted by the harbour master.')] } },
      numbering: {
        config: [
          { reference: 'dots', levels: [level(0, LevelFormat.BULLET, '•'), level(1, LevelFormat.BULLET, '◦')] },
          { reference: 'steps', levels: [level(0, LevelFormat.DECIMAL, '%1.')] },
        ],
      },
      sections: [
        {
          children: [
            new Paragraph({ text: 'Harbour report', heading: HeadingLevel.HEADING_1 }),
            new Paragraph({
              children: [
                new TextRun('The harbour was '),
                new TextRun({ text: 'busy', bold: true }),
                new TextRun(' in spring, and '),
                new ExternalHyperlink({ link: 'https://example.com/ships', children: [new TextRun('ships')] }),
                new TextRun(' came from far away.'),
                new FootnoteReferenceRun(1),
              ],
            }),
            new Paragraph({ text: 'Cargo', heading: HeadingLevel.HEADING_2 }),
            item('Grain', 'dots'),
            item('Timber', 'dots'),
            item('Oak', 'dots', 1),
            item('Pine', 'dots', 1),
            item('Salt', 'dots'),
            new Paragraph('Ships are unloaded in this order:'),
            item('First the grain', 'steps'),
            item('Then the timber', 'steps'),
            item('Salt last', 'steps'),
            new Paragraph({ text: 'Tonnage', heading: HeadingLevel.HEADING_2 }),
            new Table({
              width: { size: 9000, type: WidthType.DXA },
              columnWidths: [3000, 3000, 3000],
              rows: [
                new TableRow({ tableHeader: true, children: [cell('Port'), cell('Spring'), cell('Autumn')] }),
                new TableRow({ children: [cell('North', { rowSpan: 2 }), cell('1200'), cell('900')] }),
                new TableRow({ children: [cell('closed in winter', { columnSpan: 2 })] }),
                new TableRow({ children: [cell('South'), cell('300'), cell('450')] }),
              ],
            }),
            new Paragraph({ text: 'ميناء', heading: HeadingLevel.HEADING_3, bidirectional: true }),
            new Paragraph({
              bidirectional: true,
              children: [new TextRun({ text: 'السفن تصل في الصباح الباكر.', rightToLeft: true })],
            }),
            new Paragraph({ text: '港口', heading: HeadingLevel.HEADING_3 }),
            new Paragraph('船は毎朝早く着きます。'),
            new Paragraph({ children: [new PageBreak(), new TextRun('The second page begins here.')] }),
          ],
        },
      ],
    }),
  );
}

/** Converts a file with LibreOffice, one conversion at a time per folder. */
export function convertWithLibreOffice(
  folder: string,
  input: string,
  format: string,
  ...more: readonly string[]
): Buffer {
  const profile = `-env:UserInstallation=file://${path.join(folder, 'profile')}`;
  execFileSync('soffice', ['--headless', profile, ...more, '--convert-to', format, '--outdir', folder, input], {
    stdio: 'ignore',
    timeout: 120_000,
  });
  const extension = format.split(':', 1)[0]!;
  return readFileSync(path.join(folder, `${path.basename(input, path.extname(input))}.${extension}`));
}

/** Creates a working directory for LibreOffice. */
export function createOfficeFolder() {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'lectern-word-'));
  return {
    convert(name: string, bytes: Uint8Array | string, format: string, ...more: readonly string[]): Buffer {
      const input = path.join(folder, name);
      writeFileSync(input, bytes);
      return convertWithLibreOffice(folder, input, format, ...more);
    },
    close: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** The blocks of some HTML in the notation of SAMPLE_BLOCKS. */
export function blocksOf(html: string): string[] {
  const blocks: string[] = [];
  for (const element of elements(parseFragment(html))) {
    if (isInside(element, 'td') || isInside(element, 'th')) continue;
    const text = lineOf(element);
    if (text === '') continue;
    if (/^h[1-6]$/.test(element.name)) blocks.push(`${element.name}: ${text}`);
    else if (element.name === 'p' && !isInside(element, 'li')) blocks.push(`p: ${text}`);
    else if (element.name === 'li') blocks.push(`${markerOf(element)} ${text}`);
    else if (element.name === 'table') blocks.push(...cellsOf(element));
  }
  return blocks;
}

function isInside(element: Element, name: string): boolean {
  for (let node = element.parent; node?.type === 1; node = node.parent) if (node.name === name) return true;
  return false;
}

const attributeOf = (element: Element, name: string) => element.attributes.find((entry) => entry.name === name)?.value;

function markerOf(item: Element): string {
  const note = /^fn-(\d+)$/.exec(attributeOf(item, 'id') ?? '');
  if (note) return `note ${note[1]}:`;
  const list = item.parent as Element;
  let depth = 1;
  for (let node = list.parent; node?.type === 1; node = node.parent) if (node.name === 'li') depth += 1;
  if (list.name === 'ul') return depth > 1 ? `li ${depth}:` : 'li:';
  let number = Number(attributeOf(list, 'start') ?? '1');
  for (let node = list.first; node && node !== item; node = node.next) if (node.type === 1) number += 1;
  return `${attributeOf(item, 'value') ?? number}.`;
}

/** The text of a block without nested lists; references to notes are in brackets. */
function lineOf(block: Element): string {
  let text = '';
  for (let node = block.first; node; node = node.next) {
    if (node.type === 3) text += node.value;
    else if (node.type === 1 && node.name === 'sup') text += `[${textOf(node)}]`;
    else if (node.type === 1 && !/^[uo]l$/.test(node.name)) text += textOf(node);
  }
  return text.replace(/\s+/g, ' ').trim();
}

function cellsOf(table: Element): string[] {
  const covered = new Set<string>();
  const cells: string[] = [];
  for (const [row, element] of [...elements(table, 'tr')].entries()) {
    let column = 0;
    for (const item of elements(element)) {
      if (item.name !== 'td' && item.name !== 'th') continue;
      while (covered.has(`${row},${column}`)) column += 1;
      const [columns, rows] = ['colspan', 'rowspan'].map((name) => Number(attributeOf(item, name) ?? '1'));
      for (let r = 0; r < rows!; r++) for (let c = 0; c < columns!; c++) covered.add(`${row + r},${column + c}`);
      cells.push(`cell ${row},${column}: ${textOf(item).trim()}`);
      column += columns!;
    }
  }
  return cells;
}

/** Blocks found in the expected order, as a share of all expected and found blocks, 0 to 1. */
export function orderScore(found: readonly string[], expected: readonly string[]): number {
  let before = new Array<number>(found.length + 1).fill(0);
  for (const block of expected) {
    const now = [0];
    for (const [at, other] of found.entries()) {
      now.push(block === other ? before[at]! + 1 : Math.max(before[at + 1]!, now[at]!));
    }
    before = now;
  }
  return (2 * before.at(-1)!) / (found.length + expected.length);
}
