/** Draws pages of the kinds that people scan. The drawing order is the reading order. */
import { createRequire } from 'node:module';
import path from 'node:path';
import { GlobalFonts, type SKRSContext2D } from '@napi-rs/canvas';
import sharp from 'sharp';
import { A4, drawnPage } from '../../src/ocr/drawn-pages.suite.ts';
import type { Table, Truth } from './score.ts';

export interface Sample extends Truth {
  readonly name: string;
  readonly kind: string;
  readonly picture: Uint8Array;
}

const FONTS = path.join(
  path.dirname(createRequire(import.meta.url).resolve('pdfjs-dist/package.json')),
  'standard_fonts',
);
for (const [file, family] of [
  ['FoxitSerif.pfb', 'PageSerif'],
  ['FoxitSerifBold.pfb', 'PageSerifBold'],
]) {
  GlobalFonts.registerFromPath(path.join(FONTS, file!), family!);
}
type Face = 'PageRegular' | 'PageBold' | 'PageSerif' | 'PageSerifBold';

interface Place {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly size?: number;
  readonly face?: Face;
  /** Line height, as a multiple of the font size. */
  readonly pitch?: number;
  /** Whether lines are justified. */
  readonly spread?: boolean;
  readonly ink?: string;
}

interface Sheet {
  readonly context: SKRSContext2D;
  /** Returns the vertical position at which the next block would begin. */
  text(text: string, place: Place): number;
  /**
   * Columns begin at `lefts`, in pixels. A negative value is the position of the right edge. Returns the vertical
   * position at which the next block would begin.
   */
  table(rows: Table, look: TableLook): number;
}

interface TableLook {
  readonly lefts: readonly number[];
  readonly top: number;
  readonly size?: number;
  readonly face?: Face;
  /** Row height, as a multiple of the font size. */
  readonly pitch?: number;
  /** Width at which the text of a cell wraps. */
  readonly wrapAt?: number;
  readonly headFace?: Face;
  readonly headInk?: string;
}

type Page = (sheet: Sheet) => void;

const WORDS = {
  thing:
    'harbour valley engine garden market window river letter station bridge winter orchard island signal kitchen'.split(
      ' ',
    ),
  kind: 'quiet narrow early broken distant careful yellow common heavy modern hollow patient steady wooden'.split(' '),
  deed: 'follows carries answers crosses remembers measures shelters divides gathers replaces divulges supports'.split(
    ' ',
  ),
  place: 'behind beside beyond under near above without around against toward'.split(' '),
};

/** Generated sentences, different for each `seed`. */
export function prose(seed: number, sentences: number): string {
  let state = seed * 7_919 + 17;
  const one = (words: readonly string[]) => {
    state = (state * 16_807) % 2_147_483_647;
    return words[state % words.length]!;
  };
  const { thing, kind, deed, place } = WORDS;
  return Array.from({ length: sentences }, (_, at) => {
    const noun = () => `the ${one(kind)} ${one(thing)}`;
    const sentence = `${noun()} ${one(deed)} ${noun()} ${one(place)} ${noun()}${at % 3 === 1 ? `, and ${noun()} ${one(deed)} it` : ''}.`;
    return sentence[0]!.toUpperCase() + sentence.slice(1);
  }).join(' ');
}

const BODY = 21;

function textLines(context: SKRSContext2D, text: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const line = lines.at(-1);
    if (line !== undefined && context.measureText(`${line} ${word}`).width <= width)
      lines[lines.length - 1] = `${line} ${word}`;
    else lines.push(word);
  }
  return lines;
}

function drawLine(
  context: SKRSContext2D,
  line: string,
  at: { x: number; y: number; width?: number | undefined },
): void {
  const words = line.split(' ');
  if (at.width === undefined || words.length === 1) {
    context.fillText(line, at.x, at.y);
    return;
  }
  const widths = words.map((word) => context.measureText(word).width);
  const space = (at.width - widths.reduce((sum, width) => sum + width, 0)) / (words.length - 1);
  let x = at.x;
  for (const [index, word] of words.entries()) {
    context.fillText(word, x, at.y);
    x += widths[index]! + space;
  }
}

function sampled(name: string, page: Page, look: Partial<Parameters<typeof drawnPage>[0]> = {}): Sample {
  const texts: string[] = [];
  const tables: Table[] = [];
  const picture = drawnPage({ ...A4, ...look }, (context) => {
    const draw = (text: string, place: Place): number => {
      const { left, top, width, size = BODY, face = 'PageRegular', pitch = 1.3, spread = false, ink } = place;
      const before = context.fillStyle;
      if (ink) context.fillStyle = ink;
      context.font = `${size}px ${face}`;
      const lines = textLines(context, text, width);
      for (const [at, line] of lines.entries()) {
        const full = spread && at < lines.length - 1 ? width : undefined;
        drawLine(context, line, { x: left, y: top + size + at * size * pitch, width: full });
      }
      context.fillStyle = before;
      return top + lines.length * size * pitch;
    };
    page({
      context,
      text(text, place) {
        texts.push(text);
        return draw(text, place);
      },
      table(rows, { lefts, top, size = BODY, face = 'PageRegular', pitch = 1.6, wrapAt = 900, headFace, headInk }) {
        texts.push(...rows.flat().filter((cell) => cell !== ''));
        tables.push(rows);
        let at = top;
        for (const [number, row] of rows.entries()) {
          let next = at;
          const isHead = number === 0;
          for (const [column, cell] of row.entries()) {
            if (cell === '') continue;
            const cellFace = isHead && headFace ? headFace : face;
            context.font = `${size}px ${cellFace}`;
            const place = lefts[column]!;
            const left = place < 0 ? -place - context.measureText(cell).width : place;
            const ink = isHead && headInk ? { ink: headInk } : {};
            const end = draw(cell, { left, top: at, width: wrapAt, size, face: cellFace, pitch: 1.25, ...ink });
            next = Math.max(next, end);
          }
          at = next + size * (pitch - 1.25);
        }
        return at;
      },
    });
  });
  return { name, kind: 'drawn, hard', picture, text: texts.join(' '), tables };
}

const runningHead = (sheet: Sheet, title: string, number: string) => {
  sheet.text(title, { left: 110, top: 50, width: 900, size: 16 });
  sheet.text(number, { left: 1_100, top: 50, width: 60, size: 16 });
};

const narrowGutter: Page = (sheet) => {
  runningHead(sheet, 'Annals of Quiet Valleys', '214');
  const column = { size: BODY, face: 'PageSerif', spread: true, width: 499 } as const;
  sheet.text(prose(1, 27), { ...column, left: 110, top: 110 });
  sheet.text(prose(2, 26), { ...column, left: 631, top: 110 });
};

const unequalColumns: Page = (sheet) => {
  sheet.text('Two Accounts of One Winter', { left: 300, top: 90, width: 800, size: 40, face: 'PageBold' });
  sheet.text(prose(3, 20), { left: 110, top: 190, width: 580, size: 21, pitch: 1.42, spread: true });
  sheet.text(prose(4, 13), { left: 725, top: 208, width: 400, size: 18, pitch: 1.25, spread: true });
};

const headingsAcross: Page = (sheet) => {
  const column = { face: 'PageSerif', spread: true, width: 490 } as const;
  sheet.text('On Harbours', { left: 470, top: 80, width: 800, size: 44, face: 'PageSerifBold' });
  sheet.text(prose(5, 8), { ...column, left: 110, top: 180 });
  sheet.text(prose(6, 8), { ...column, left: 640, top: 180 });
  sheet.text('Second Part: What the Engines Remember', {
    left: 290,
    top: 720,
    width: 900,
    size: 34,
    face: 'PageSerifBold',
  });
  sheet.text(prose(7, 8), { ...column, left: 110, top: 800 });
  sheet.text(prose(8, 9), { ...column, left: 640, top: 800 });
};

const sidebar: Page = (sheet) => {
  const { context } = sheet;
  sheet.text('Garden Engines', { left: 110, top: 90, width: 800, size: 42, face: 'PageBold' });
  sheet.text(prose(9, 25), { left: 110, top: 180, width: 660, spread: true });
  const ink = context.fillStyle;
  context.fillStyle = '#e4e4dc';
  context.fillRect(800, 200, 340, 620);
  context.fillStyle = ink;
  context.lineWidth = 2;
  context.strokeRect(800, 200, 340, 620);
  const top = sheet.text('In short', { left: 820, top: 220, width: 300, size: 24, face: 'PageBold' });
  sheet.text(prose(10, 5), { left: 820, top: top + 10, width: 300, size: 18 });
};

function drawChart(context: SKRSContext2D, { left, top }: { left: number; top: number }): void {
  context.lineWidth = 2;
  context.strokeRect(left, top, 470, 240);
  for (const [at, height] of [60, 110, 90, 180, 140, 200, 75].entries())
    context.fillRect(left + 30 + at * 62, top + 230 - height, 40, height);
}

const figure: Page = (sheet) => {
  const column = { face: 'PageSerif', spread: true, width: 480 } as const;
  let top = sheet.text(prose(11, 8), { ...column, left: 110, top: 110 });
  drawChart(sheet.context, { left: 115, top: top + 20 });
  top = sheet.text('Figure 3: Heights of seven orchards, measured twice in a common winter.', {
    left: 110,
    top: top + 275,
    width: 480,
    size: 17,
  });
  sheet.text(prose(12, 8), { ...column, left: 110, top: top + 30 });
  sheet.text(prose(13, 24), { ...column, left: 635, top: 110 });
};

const tableInColumn: Page = (sheet) => {
  const { context } = sheet;
  const column = { face: 'PageSerif', spread: true, width: 490 } as const;
  let top = sheet.text(prose(14, 8), { ...column, left: 110, top: 110 });
  top = sheet.text('Table 1: Stations and their signals.', { left: 110, top: top + 20, width: 480, size: 18 });
  context.fillRect(110, top + 6, 490, 2);
  const rows = [
    ['Station', 'Signals', 'Share'],
    ['Harbour', '7', '12.5'],
    ['Old Mill', '14', '25.0'],
    ['Island', '3', '5.4'],
    ['Orchard', '32', '57.1'],
  ];
  const lefts = [115, -420, -590];
  top = sheet.table(rows, { lefts, top: top + 12, size: 20, face: 'PageSerif', headFace: 'PageSerifBold' });
  context.fillRect(110, top, 490, 2);
  sheet.text(prose(15, 9), { ...column, left: 110, top: top + 24 });
  sheet.text(prose(16, 24), { ...column, left: 640, top: 110 });
};

const wrappedCells: Page = (sheet) => {
  const top = sheet.text(prose(17, 4), { left: 110, top: 110, width: 1_000 });
  const rows = [
    ['Material', 'What it is good for', 'What harms it'],
    ['Oak', 'Beams and frames of bridges that must carry heavy engines', 'Standing water and frost together'],
    ['Slate', 'Roofs near the harbour', 'Hail of a size that is seldom seen in the valley'],
    ['Brass', 'Signals, bells and the handles of windows that are opened every day', 'Salt'],
  ];
  const end = sheet.table(rows, {
    lefts: [110, 340, 780],
    top: top + 40,
    wrapAt: 360,
    pitch: 1.9,
    headFace: 'PageBold',
  });
  sheet.text(prose(18, 5), { left: 110, top: end + 50, width: 1_000 });
};

const loneDigits: Page = (sheet) => {
  sheet.text(prose(19, 3), { left: 110, top: 110, width: 1_000 });
  const rows = [
    ['Team', 'Won', 'Drawn', 'Lost', 'Points'],
    ['Harbour', '9', '1', '0', '28'],
    ['Valley', '7', '', '3', '21'],
    ['Orchard', '5', '2', '3', '17'],
    ['Island', '4', '1', '5', '13'],
    ['Station', '2', '4', '4', '10'],
    ['Winter', '1', '', '9', '3'],
    ['Market', '', '3', '7', '3'],
  ];
  sheet.table(rows, { lefts: [120, -480, -660, -840, -1_060], top: 300, headFace: 'PageBold' });
  sheet.text(prose(20, 4), { left: 110, top: 640, width: 1_000 });
};

const mergedHeads: Page = (sheet) => {
  const { context } = sheet;
  sheet.text(prose(21, 3), { left: 110, top: 110, width: 1_000, face: 'PageSerif' });
  context.fillRect(110, 290, 980, 3);
  const rows = [
    ['', 'First winter', '', 'Second winter', ''],
    ['Method', 'Days', 'Error', 'Days', 'Error'],
    ['By hand', '112', '3.1', '98', '2.7'],
    ['By engine', '41', '1.9', '40', '1.8'],
    ['By letter', '230', '8.8', '245', '9.3'],
    ['By signal', '17', '0.6', '15', '0.5'],
  ];
  const end = sheet.table(rows, { lefts: [120, 420, 600, 800, 980], top: 300, face: 'PageSerif' });
  context.fillRect(410, 330, 330, 1.5);
  context.fillRect(790, 330, 330, 1.5);
  context.fillRect(110, 364, 980, 1.5);
  context.fillRect(110, end, 980, 3);
  sheet.text(prose(22, 4), { left: 110, top: end + 40, width: 1_000, face: 'PageSerif' });
};

const darkBars: Page = (sheet) => {
  const { context } = sheet;
  const bar = (top: number, height: number) => {
    const ink = context.fillStyle;
    context.fillStyle = '#20406a';
    context.fillRect(100, top, 1_040, height);
    context.fillStyle = ink;
  };
  const white = { ink: '#fff', face: 'PageBold' } as const;
  bar(80, 70);
  sheet.text('Report of the Harbour Office', { left: 120, top: 92, width: 900, size: 34, ...white });
  const top = sheet.text(prose(23, 6), { left: 110, top: 190, width: 1_000 });
  const rows = [
    ['Quay', 'Ships', 'Cargo in tons', 'Delay'],
    ['North', '120', '4,310', '2.5 h'],
    ['South', '88', '2,904', '1.0 h'],
    ['East', '6', '75', '9.5 h'],
  ];
  bar(top + 30, 40);
  const look = { lefts: [120, 400, 640, 960], headFace: 'PageBold', headInk: '#fff' } as const;
  const end = sheet.table(rows, { ...look, top: top + 38, pitch: 1.8 });
  bar(end + 40, 44);
  sheet.text('What follows from it', { left: 120, top: end + 48, width: 900, size: 24, ...white });
  sheet.text(prose(24, 8), { left: 110, top: end + 110, width: 1_000 });
};

const form: Page = (sheet) => {
  const { context } = sheet;
  sheet.text('Application for a Mooring', { left: 110, top: 90, width: 900, size: 36, face: 'PageBold' });
  const fields = [
    ['Name', 'Oda Harbison'],
    ['Street', '14 Orchard Lane'],
    ['Town', 'Nether Valley'],
    ['Length of the boat', '7.4 m'],
    ['Crew', '2'],
    ['From', '3 May'],
    ['To', '28 September'],
  ];
  for (const [at, field] of fields.entries()) {
    const top = 190 + at * 62;
    sheet.text(field[0]!, { left: 110, top, width: 300, size: 19 });
    sheet.text(field[1]!, { left: 430, top: top - 2, width: 500, size: 22, face: 'PageSerif' });
    context.fillRect(420, top + 28, 620, 1.5);
  }
  sheet.text(prose(25, 6), { left: 110, top: 680, width: 1_000 });
};

const footnotes: Page = (sheet) => {
  runningHead(sheet, 'Letters from the Island', '37');
  const column = { face: 'PageSerif', spread: true, width: 490 } as const;
  sheet.text(prose(26, 20), { ...column, left: 110, top: 110 });
  sheet.context.fillRect(110, 1_420, 200, 1.5);
  sheet.text(`1. ${prose(27, 3)}`, { left: 110, top: 1_432, width: 490, size: 16, face: 'PageSerif' });
  sheet.text(prose(28, 22), { ...column, left: 640, top: 110 });
  sheet.context.fillRect(640, 1_470, 200, 1.5);
  sheet.text(`2. ${prose(29, 2)}`, { left: 640, top: 1_482, width: 490, size: 16, face: 'PageSerif' });
};

const marginNotes: Page = (sheet) => {
  sheet.text(prose(30, 30), { left: 110, top: 110, width: 760, face: 'PageSerif', spread: true, size: 22 });
  for (const [at, note] of ['Compare the earlier letter', 'A common mistake', 'Seen again in winter'].entries())
    sheet.text(note, { left: 920, top: 190 + at * 330, width: 210, size: 16 });
};

const threeColumns: Page = (sheet) => {
  sheet.text('THE VALLEY MESSENGER', { left: 290, top: 60, width: 900, size: 52, face: 'PageSerifBold' });
  const column = { face: 'PageSerif', spread: true, width: 328, size: 19 } as const;
  const heads = ['Engine Crosses Narrow Bridge', 'Market Under Water', 'Letters'];
  for (const [at, head] of heads.entries()) {
    const left = 100 + at * 354;
    const top = sheet.text(head, { left, top: 160, width: 328, size: 30 - 2 * at, face: 'PageSerifBold' });
    sheet.text(prose(31 + at, 17 - 4 * at), { ...column, left, top: top + 12 });
  }
};

const invoice: Page = (sheet) => {
  sheet.text('Northern Signal Works', { left: 110, top: 80, width: 600, size: 30, face: 'PageBold' });
  sheet.text('Harbour Office, 2 Quay Street, Nether Valley', { left: 110, top: 190, width: 280 });
  sheet.text('Invoice 20417 of 3 May, payable within 30 days', { left: 780, top: 190, width: 300 });
  const rows = [
    ['Pos.', 'Item', 'Count', 'Price', 'Sum'],
    ['1', 'Brass bell', '2', '84.00', '168.00'],
    ['2', 'Signal lamp, yellow', '6', '12.50', '75.00'],
    ['3', 'Repair of the east window', '1', '310.00', '310.00'],
    ['4', 'Rope by the yard', '40', '1.10', '44.00'],
    ['', 'Total', '', '', '597.00'],
  ];
  const end = sheet.table(rows, {
    lefts: [110, 200, -740, -900, -1_090],
    top: 380,
    pitch: 1.8,
    headFace: 'PageBold',
  });
  sheet.text(prose(35, 2), { left: 110, top: end + 60, width: 1_000 });
};

const codeTable: Page = (sheet) => {
  sheet.text('Settings', { left: 110, top: 90, width: 600, size: 34, face: 'PageBold' });
  const top = sheet.text(prose(36, 3), { left: 110, top: 160, width: 1_000 });
  const rows = [
    ['Name', 'Type', 'Default', 'Meaning'],
    ['depth', 'integer', '3', 'How far it looks'],
    ['width', 'integer', '8', 'How many at once'],
    ['strict', 'boolean', 'no', 'Whether faults end it'],
    ['label', 'text', '', 'What it is called'],
    ['ratio', 'number', '0', 'Of kept to all'],
  ];
  const end = sheet.table(rows, { lefts: [110, 290, 450, 610], top: top + 30, pitch: 1.5, headFace: 'PageBold' });
  sheet.text(prose(37, 8), { left: 110, top: end + 40, width: 1_000 });
};

/** Adds reproducible noise and a gray background. */
async function worn(sample: Sample): Promise<Sample> {
  const { data, info } = await sharp(sample.picture)
    .greyscale()
    .linear(0.75, 18)
    .blur(0.6)
    .raw()
    .toBuffer({ resolveWithObject: true });
  let state = 4_711;
  for (let at = 0; at < data.length; at++) {
    state = (state * 16_807) % 2_147_483_647;
    data[at] = state % 4_000 === 0 ? 60 : Math.max(0, Math.min(255, data[at]! + (state % 25) - 12));
  }
  const raw = { width: info.width, height: info.height, channels: 1 } as const;
  const picture = await sharp(data, { raw }).jpeg({ quality: 60 }).toBuffer();
  return { ...sample, picture };
}

export async function hardPages(): Promise<Sample[]> {
  return [
    sampled('narrow gutter', narrowGutter),
    sampled('unequal columns', unequalColumns),
    sampled('headings across columns', headingsAcross),
    sampled('sidebar in a box', sidebar),
    sampled('figure in a column', figure),
    sampled('table in a column', tableInColumn),
    sampled('cells of several lines', wrappedCells),
    sampled('lone digits, empty cells', loneDigits),
    sampled('merged heads', mergedHeads),
    sampled('light on dark bars', darkBars),
    sampled('form', form),
    sampled('footnotes', footnotes),
    sampled('margin notes', marginNotes),
    sampled('newspaper', threeColumns),
    sampled('invoice', invoice),
    sampled('settings', codeTable),
    await worn(sampled('gray, noisy, slanted by 1°', headingsAcross, { degrees: 1 })),
    await worn(sampled('table, noisy', loneDigits, { degrees: -0.6 })),
  ];
}
