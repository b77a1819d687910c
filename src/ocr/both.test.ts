/** The shipped recognizers together: numbers, orientation and scripts of drawn pages. */
import { existsSync } from 'node:fs';
import { GlobalFonts } from '@napi-rs/canvas';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { characterAccuracy, type Draw, drawnPage, drawText } from './drawn-pages.suite.ts';
import { createOcr, type Ocr } from './ocr.ts';

const LONG = 240_000;
const { signal } = new AbortController();

const ROWS = [
  ['Item', 'Qty', 'Price', 'Sum'],
  ['Bread', '3', '8.92', '26.76'],
  ['Cable', '1', '26.24', '26.24'],
  ['Lamp', '7', '1904.10', '13328.70'],
  ['Soap', '9', '0.85', '7.65'],
] as const;

/** `frame` draws ruling lines. */
const table =
  (frame: boolean): Draw =>
  (context) => {
    context.font = '21px PageRegular';
    for (const [row, cells] of ROWS.entries()) {
      for (const [column, cell] of cells.entries()) {
        const right = 220 + column * 200 - 16;
        context.fillText(cell, column === 0 ? 60 : right - context.measureText(cell).width, 70 + row * 38);
      }
    }
    if (!frame) return;
    context.lineWidth = 1;
    for (let row = 0; row <= ROWS.length; row++) context.strokeRect(40, 44 + row * 38, 780, 0.1);
    for (const x of [40, 220, 420, 620, 820]) context.strokeRect(x, 44, 0.1, ROWS.length * 38);
  };

const NUMBERS = ROWS.flat().filter((cell) => /\d/.test(cell));

const numbersRight = (text: string): string[] => {
  const found = text.split(/\s+/);
  return NUMBERS.filter((number) => {
    const at = found.indexOf(number);
    if (at >= 0) found.splice(at, 1);
    return at >= 0;
  });
};

describe('both recognizers', () => {
  let ocr: Ocr;
  beforeAll(() => {
    ocr = createOcr({ languages: [], timeoutMs: 200_000 })!;
  });
  afterAll(() => ocr.close());

  it.each([
    ['open', false, 0],
    ['ruled', true, 0],
    ['on its side', true, 90],
    ['upside down', false, 180],
  ])(
    'read every number of a table that is %s',
    async (_, frame, degrees) => {
      const page = drawnPage({ width: 860, height: 300, degrees, scale: 1.2 }, table(frame));
      const { text, picture } = await ocr.read(page, { signal });
      expect(numbersRight(text)).toEqual(NUMBERS);
      expect(picture.turned).toBe((360 - degrees) % 360);
    },
    LONG,
  );

  const CHINESE = '/usr/share/fonts/truetype/wqy/wqy-zenhei.ttc';
  const DEJAVU = '/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf';
  it.each([
    ['Chinese', CHINESE, '城市的图书馆每周开放六天，读者可以免费借阅图书2024册。'],
    ['Cyrillic', DEJAVU, 'Городская библиотека открыта шесть дней в неделю'],
    ['Greek', DEJAVU, 'Η βιβλιοθήκη της πόλης είναι ανοιχτή έξι ημέρες'],
  ])(
    'find the script of a page: %s',
    async (script, font, line) => {
      if (!existsSync(font)) {
        console.log(`skipped: ${font} is not installed`);
        return;
      }
      GlobalFonts.registerFromPath(font, script);
      const page = drawnPage({ width: 900, height: 200 }, (context) => {
        context.font = `28px ${script}`;
        for (const at of [60, 110, 160]) context.fillText(line, 40, at);
      });
      const { text, notes } = await ocr.read(page, { signal });
      expect(
        characterAccuracy(`${line} ${line} ${line}`.replace(script === 'Chinese' ? / /g : '', ''), text),
      ).toBeGreaterThan(0.95);
      if (script === 'Cyrillic' && notes.length > 0) expect(notes[0]).toContain('ukr and bel');
    },
    LONG,
  );

  it(
    'leave a page of words to Tesseract',
    async () => {
      const page = drawnPage({ width: 900, height: 120 }, (context) =>
        drawText(context, 'The quiet river follows the valley', { left: 40, top: 30, width: 800, size: 28 }),
      );
      const { text, doubts } = await ocr.read(page, { signal });
      expect(text).toBe('The quiet river follows the valley');
      expect(doubts).toEqual([]);
    },
    LONG,
  );
});
