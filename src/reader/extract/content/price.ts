/**
 * Keeps the price of a product. Most annotators leave it out, so the trees do too, but readers of a product page ask for
 * it first.
 */
import { PARTS, type Part } from '../blocks/class-words.ts';
import { phraseMask } from '../blocks/phrases.ts';
import type { Survey } from '../blocks/survey.ts';
import { probabilityOfKind } from '../trees/page-features.ts';
import type { Choice } from './choose-blocks.ts';

const MIN_PRODUCT_PROBABILITY = 0.5;
/** Maximum number of blocks from the title to a price, and to one whose box is named after prices. */
const MAX_BLOCKS = 12;
const MAX_BLOCKS_NAMED = 100;
const MAX_WORDS = 12;
/** Minimum number of similar boxes with a price each that are a list of products. */
const MIN_PRODUCTS = 3;

const maskOf = (...parts: Part[]) => parts.reduce((mask, part) => mask | (1 << PARTS.indexOf(part)), 0);
const PRICE = maskOf('price');
const OTHER_PARTS = maskOf('related', 'advert', 'consent', 'signup', 'popup', 'nav', 'footer', 'notice', 'review');
const OTHER_PHRASES = phraseMask('related', 'advert', 'join', 'legal', 'review');
/** Prices of delivery, limits for free delivery, instalments, gift cards, and the end of an offer. */
const OTHER_PRICE =
  /shipping|deliver|free |over |under |above |minimum|per month|\/ ?mo|monthly|apr\b|gift|cash ?back|reward|versand|liefer|kostenlos|monat|livraison|gratuit|offert|mois|dès|env[ií]o|gratis|entrega|frete|mes(?:es)?\b|spedizione|mese|verzend|maand|dostaw|darmow|frakt|fragt|doprav|kargo|送料|包邮|运费|배송/i;

/** Changes `keep` in place. */
export function keepPrice(
  survey: Survey,
  keep: Uint8Array,
  boilerplate: Uint8Array,
  { kinds, records }: Pick<Choice, 'kinds' | 'records'>,
): void {
  if (probabilityOfKind(kinds, 'product') < MIN_PRODUCT_PROBABILITY) return;
  const { blocks, elements, parent, parts } = survey;
  const { groups, groupOf, priced } = records;
  const title = blocks.findIndex(({ owner }) => elements[owner]!.name === 'h1');
  if (title < 0) return;
  const end = Math.min(blocks.length, title + MAX_BLOCKS_NAMED + 1);
  for (let at = title + 1; at < end; at++) {
    if (!priced[at]) continue;
    if (!keep[at] && !isPrice(at)) continue;
    keep[at] = 1;
    return;
  }

  function isPrice(at: number): boolean {
    const { owner, words, linkWords, phrases, text } = blocks[at]!;
    if (words > MAX_WORDS || linkWords > 0 || OTHER_PRICE.test(text) || (phrases & OTHER_PHRASES) !== 0) return false;
    let isNamed = false;
    for (let box = owner, height = 0; box > 0; box = parent[box]!, height++) {
      const group = groupOf[box]!;
      if (boilerplate[box] || elements[box]!.name === 'button' || (parts[box]! & OTHER_PARTS) !== 0) return false;
      if (groups.count[group]! >= MIN_PRODUCTS && groups.prices[group]! >= MIN_PRODUCTS) return false;
      isNamed ||= height <= 2 && (parts[box]! & PRICE) !== 0;
    }
    return isNamed || at - title <= MAX_BLOCKS;
  }
}
