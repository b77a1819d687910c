import { createCanvas } from '@napi-rs/canvas';
import { describe, expect, it } from 'vitest';
import '../../drawn-pages.suite.ts';
import { spacedWords } from './spacing.ts';

/** A line of 48 pixels, with one letter at the middle of each drawn letter, and no space read. */
function words(text: string, font: string): string[] {
  const canvas = createCanvas(900, 48);
  const context = canvas.getContext('2d');
  context.fillStyle = '#fff';
  context.fillRect(0, 0, 900, 48);
  context.fillStyle = '#000';
  context.font = font;
  context.fillText(text, 10, 36);
  const { data } = context.getImageData(0, 0, 900, 48);
  const pixels = Uint8Array.from({ length: 900 * 48 }, (_, at) => data[at * 4]!);
  const centerOf = (at: number) =>
    10 + (context.measureText(text.slice(0, at)).width + context.measureText(text.slice(0, at + 1)).width) / 2;
  const letters = [...text].flatMap((letter, at) =>
    letter === ' ' ? [] : [{ text: letter, confidence: 1, step: centerOf(at) }],
  );
  return spacedWords({ pixels, width: 900, height: 48 }, letters, (step) => step - 0.5).map((word) =>
    word.letters.map((letter) => letter.text).join(''),
  );
}

describe('the gaps between letters', () => {
  it.each(['The river follows the quiet valley', 'Order 63038: 7 of 51, total 3065.26', '26.24 and 11.71'])(
    'give the spaces back: %s',
    (text) => {
      expect(words(text, '32px PageRegular').join(' ')).toBe(text);
    },
  );

  it('give no space inside one word', () => {
    expect(words('1111.11', '32px PageRegular')).toEqual(['1111.11']);
    expect(words('', '32px PageRegular')).toEqual([]);
  });
});
