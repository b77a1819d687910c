import { expect, it } from 'vitest';
import type { OcrPage } from '../hocr.ts';
import { NO_RULES } from '../image/ruling-lines.ts';
import { withoutRunningText } from './running-text.ts';

/** A page of 1,000 × 1,400 pixels with a row of text at each of the given heights. */
function page(rows: readonly (readonly [top: number, text: string])[]): OcrPage {
  const lines = rows.map(([top, text]) => {
    const words = text.split(' ').map((word, at) => ({
      text: word,
      box: { left: 100 + at * 90, top, right: 180 + at * 90, bottom: top + 24 },
      confidence: 0.9,
    }));
    return { box: { left: 100, top, right: words.at(-1)!.box.right, bottom: top + 24 }, size: 24, words };
  });
  return { width: 1_000, height: 1_400, lines, rules: NO_RULES };
}

const body = (word: string): [number, string][] =>
  Array.from({ length: 30 }, (_, at) => [180 + at * 34, `${word} ${at} of the page`]);

const textOf = ({ lines }: OcrPage): string[] => lines.map(({ words }) => words.map(({ text }) => text).join(' '));

const dropped = (pages: readonly OcrPage[], first = 1): string[][] =>
  withoutRunningText(pages.map((one, at) => ({ number: first + at, page: one }))).map((kept, at) =>
    textOf(pages[at]!).filter((text) => !textOf(kept).includes(text)),
  );

it('leaves out heads and page numbers, also if they are recognized differently', () => {
  const pages = ['Annual Report 12', 'Annua1 Report 13', 'Annual Repert 14'].map((head, at) =>
    page([[60, head], ...body(`line${at}`), [1_330, `- ${7 + at} -`]]),
  );
  expect(dropped(pages)).toEqual([
    ['Annual Report 12', '- 7 -'],
    ['Annua1 Report 13', '- 8 -'],
    ['Annual Repert 14', '- 9 -'],
  ]);
});

it('compares left pages with left pages', () => {
  const heads = ['The Mill', 'Chapter Two', 'The Mill', 'Chapter Two'];
  expect(dropped(heads.map((head, at) => page([[60, head], ...body(`line${at}`)])))).toEqual(
    heads.map((head) => [head]),
  );
});

it('keeps what stands on one page only, and numbers that do not count the pages', () => {
  const pages = ['Preface', 'Harbours', 'Bridges'].map((head, at) =>
    page([[60, head], ...body(`line${at}`), [1_330, `${90 - 7 * at}`]]),
  );
  expect(dropped(pages)).toEqual([[], [], []]);
  expect(dropped([pages[0]!])).toEqual([[]]);
});

it('keeps the repeated head of a table, because it is not apart from the rows', () => {
  const pages = [0, 1].map((at) =>
    page(Array.from({ length: 34 }, (_, row) => [100 + row * 34, row ? `Oak ${at * 40 + row} planks` : 'Name Number'])),
  );
  expect(dropped(pages)).toEqual([[], []]);
});

it('keeps what is most of the text', () => {
  const pages = [1, 2].map((at) =>
    page([
      [60, 'Delivery note of the harbour office'],
      [700, `Boat ${at}`],
    ]),
  );
  expect(dropped(pages)).toEqual([[], []]);
});

it('keeps a repeated row below a row that is not repeated', () => {
  const pages = ['First title', 'Another one'].map((title, at) =>
    page([[50, title], [100, 'Same line here'], ...body(`line${at}`)]),
  );
  expect(dropped(pages)).toEqual([[], []]);
});
