/** The raised cents of prices are decimals, other superscripts are not. */
import { describe, expect, test } from 'vitest';
import { markdownOf } from '../convert.suite.ts';

const written = (html: string): string => markdownOf(`<p>${html}</p>`);

describe('raised cents', () => {
  test.each([
    ['$3,899<sup>00</sup> each', '$3,899.00 each'],
    ['<span>$3,899</span><sup class="cents">00</sup>', '$3,899.00'],
    ['<span>€</span><span>19</span><!-- --><sup>99</sup>', '€19.99'],
    ['1.299<sup>99</sup> €', '1.299,99 €'],
    ['19<sup>95</sup><small>EUR</small>', '19.95EUR'],
    ['£ 7<sup>50</sup>', '£ 7.50'],
  ])('%s', (html, expected) => {
    expect(written(html)).toBe(expected);
  });
});

describe('other superscripts', () => {
  test.each([
    ['10<sup>12</sup> bricks', '10¹² bricks'],
    ['$5.00<sup>12</sup>', '$5.00¹²'],
    ['$19<sup>2</sup>', '$19²'],
    ['a kiln of 19<sup>th</sup> century', 'a kiln of 19th century'],
    ['x<sup>10</sup>', 'x¹⁰'],
    ['1.5<sup>10</sup> €', '1.5¹⁰ €'],
  ])('%s', (html, expected) => {
    expect(written(html)).toBe(expected);
  });
});

test('a superscript beside much text takes linear time', () => {
  const part = `<b>${'kiln '.repeat(50)}</b><sup>00</sup>`;
  expect(written(part.repeat(2_000)).length).toBeGreaterThan(500_000);
});
