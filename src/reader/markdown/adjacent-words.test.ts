/** Words in adjacent boxes are separate, words whose parts are marked are not. */
import { describe, expect, test } from 'vitest';
import { markdownOf } from './convert.suite.ts';
import type { MarkdownOptions } from './to-markdown.ts';

const written = (html: string, options: Partial<MarkdownOptions> = {}): string =>
  markdownOf(html, { retainLinks: 'text', ...options });

const boxes = (...texts: string[]) => texts.map((text) => `<span>${text}</span>`).join('');

describe('a space is written between', () => {
  test.each([
    ['a label and its value', boxes('Price', '19 €'), 'Price 19 €'],
    ['words with capitals', boxes('Quick view', 'Compare'), 'Quick view Compare'],
    ['capitals', boxes('NEW', 'SALE'), 'NEW SALE'],
    ['a name and a word', boxes('OLED', 'Display'), 'OLED Display'],
    ['a number and words', boxes('24', 'Reviews'), '24 Reviews'],
    ['two numbers', boxes('3323', '4.6 out of 5'), '3323 4.6 out of 5'],
    ['the two parts of a price', boxes('$19', '99'), '$19 99'],
    ['a price and a price', boxes('$19.00', '$24.00'), '$19.00 $24.00'],
    ['a count and words', boxes('(5)', 'reviews'), '(5) reviews'],
    ['a sentence and a name', boxes('Made by hand.', 'Mary Potter'), 'Made by hand. Mary Potter'],
    ['words in Greek', boxes('Τιμή', 'Αγορά'), 'Τιμή Αγορά'],
    ['links', '<a href="/a">Kilns</a><a href="/b">Bricks</a>', 'Kilns Bricks'],
    [
      'a link and a nested box',
      '<a href="/a">Kilns</a><a href="/b"><span><span>Bricks</span></span></a>',
      'Kilns Bricks',
    ],
    ['a marked label and a box', '<strong>Weight</strong><span>5 kg</span>', '**Weight** 5 kg'],
    [
      'texts around an empty box',
      'The firing<span class="br"></span>Bricks keep the heat',
      'The firing Bricks keep the heat',
    ],
  ])('%s', (_, html, expected) => {
    expect(written(`<p>${html}</p>`)).toBe(expected);
  });
});

describe('nothing is written between', () => {
  test.each([
    ['a word and its marked part', 'un<b>Believ</b>able', 'un**Believ**able'],
    ['text and a box', 'Mac<span>Book</span>', 'MacBook'],
    ['animated letters', boxes('K', 'i', 'L', 'N'), 'KiLN'],
    ['animated digits', boxes('1', '9', '8'), '198'],
    ['a first letter and its word', boxes('T', 'he kiln'), 'The kiln'],
    ['parts of a word', boxes('kil', 'ns'), 'kilns'],
    ['a number and its unit', boxes('5', 'km'), '5km'],
    ['the sign and the number of a price', boxes('$', '19'), '$19'],
    ['a country and the sign of its currency', boxes('US', '$19'), 'US$19'],
    ['the parts of a number', boxes('1,', '250', '.', '50'), '1,250.50'],
    ['the parts of a time', boxes('10:', '30'), '10:30'],
    ['the parts of a host', boxes('kilns.', 'example'), 'kilns.example'],
    ['words in Chinese', boxes('价格', '购买'), '价格购买'],
    ['two marks', '<b>Kiln</b><i>Brick</i>', '**Kiln**_Brick_'],
    ['code', '<code><span>getKiln</span><span>Name</span></code>', '`getKilnName`'],
    ['boxes with white space', '<span>Kilns </span><span>Bricks</span>', 'Kilns Bricks'],
  ])('%s', (_, html, expected) => {
    expect(written(`<p>${html}</p>`)).toBe(expected);
  });
});

test('in HTML tables, except in code', () => {
  const cells = `<td>${boxes('Price', '19 €')}</td><td><code>${boxes('getKiln', 'Name')}</code></td>`;
  const html = written(`<table><tr><th>A</th><th>B</th></tr><tr>${cells}</tr></table>`, { gfm: 'table-html' });
  expect(html).toContain('<td>Price 19 €</td><td><code>getKilnName</code></td>');
});

test('takes linear time', () => {
  expect(written(`<p>a${'<span></span>'.repeat(200_000)}Bc</p>`)).toBe('aBc');
  expect(written(`<p>${boxes(...Array.from({ length: 100_000 }, () => 'Kiln'))}</p>`)).toHaveLength(499_999);
  expect(written(`${'<span>'.repeat(500)}Kiln${'</span>'.repeat(500)}<span>Brick</span>`)).toContain('Brick');
});
