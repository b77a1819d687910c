/** The price of a product stays although its probability is low. */
import { describe, expect, test } from 'vitest';
import { find } from '#html/node.ts';
import { parseDocument } from '#html/parse.ts';
import { createClassReader } from '../blocks/class-words.ts';
import { survey } from '../blocks/survey.ts';
import { createPageContext } from '../trees/features.ts';
import { FITTED_KINDS } from '../trees/page-features.ts';
import { keepPrice } from './price.ts';

const readClass = createClassReader();

/** The kept texts of a page on which nothing was kept so far, except texts that begin with "+". */
function kept(html: string, kind = 'product'): string[] {
  const page = survey(find(parseDocument(html), 'body')!, readClass);
  const keep = Uint8Array.from(page.blocks, ({ text }) => (text.startsWith('+') ? 1 : 0));
  const kinds = Float32Array.from(FITTED_KINDS, (name) => (name === kind ? 1 : 0));
  const { records } = createPageContext(page);
  keepPrice(page, keep, new Uint8Array(page.elements.length), { kinds, records });
  return page.blocks.filter((_, at) => keep[at]).map(({ text }) => text);
}

const TEXT = '<p>Thrown from stoneware, and fired in a kiln with wood.</p>';
const page = (rest: string) => `<h1>Teapot</h1>${rest}${TEXT}`;

describe('the price of a product', () => {
  test('stays, once', () => {
    expect(kept(page('<div>18,90 €</div><div>18,90 €</div>'))).toEqual(['18,90 €']);
    expect(kept(page('<span class="was">$40.00</span> <b>$35.00</b>'))).toEqual(['$40.00 $35.00']);
    expect(kept(page('<p>+ Now $35.00</p><div>$35.00</div>'))).toEqual(['+ Now $35.00']);
  });

  test('stays far from the title if its box is named after prices', () => {
    const far = TEXT.repeat(20);
    expect(kept(page(`${far}<div class="price">£20</div>`))).toEqual(['£20']);
    expect(kept(page(`${far}<div>£20</div>`))).toEqual([]);
  });

  test('is not that of delivery, instalments or other products', () => {
    expect(kept(page('<div>Free shipping over $100</div><div>$35.00</div>'))).toEqual(['$35.00']);
    expect(kept(page('<div>4 € pro Monat</div>'))).toEqual([]);
    expect(kept(page('<button>Add $35.00</button><div><a href="/b">Jug $30.00</a></div>'))).toEqual([]);
    expect(kept(page('<div class="related-products"><div class="price">$30.00</div></div>'))).toEqual([]);
    expect(kept(page(`<ul>${'<li><div class="price">$30.00</div></li>'.repeat(3)}</ul>`))).toEqual([]);
  });

  test('is kept on pages of products only', () => {
    expect(kept(page('<div>$35.00</div>'), 'article')).toEqual([]);
    expect(kept('<h2>Teapot</h2><div>$35.00</div>')).toEqual([]);
  });
});
