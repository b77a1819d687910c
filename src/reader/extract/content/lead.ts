/**
 * Keeps the lead of an article: a short summary between its title and its text. Annotators disagree about it, so the
 * trees are undecided, but readers take it for a part of the article.
 */
import { phraseMask } from '../blocks/phrases.ts';
import type { Survey } from '../blocks/survey.ts';
import { probabilityOfKind } from '../trees/page-features.ts';
import type { Choice } from './choose-blocks.ts';
import { isInSeparatePart } from './units.ts';

const MIN_ARTICLE_PROBABILITY = 0.5;
/** Minimum words of the first paragraph. */
const MIN_TEXT_WORDS = 25;
/** Maximum number of blocks between the title and the first paragraph. */
const MAX_BLOCKS = 12;
const MIN_LEAD_WORDS = 12;
const MAX_LEAD_WORDS = 80;
/** Minimum probability of a lead, as a share of the threshold. */
const MIN_SHARE = 0.6;
const LEAD_ELEMENTS = new Set(['p', 'div', 'h2', 'h3', 'header', 'section', 'article', 'li']);
const SENTENCE_END = /[.!?…]["”»“')\]]?$/;
/** Phrases of subscriptions, advertising and legal notes. */
const OTHER_PHRASES = phraseMask('share', 'related', 'join', 'go', 'advert', 'legal', 'shop');

/** Changes `keep` in place. */
export function keepLead(
  survey: Survey,
  keep: Uint8Array,
  boilerplate: Uint8Array,
  { kinds, probabilities, threshold }: Choice,
): void {
  if (probabilityOfKind(kinds, 'article') < MIN_ARTICLE_PROBABILITY) return;
  const { blocks, elements } = survey;
  const nameOf = (at: number) => elements[blocks[at]!.owner]!.name;
  const text = blocks.findIndex(({ words }, at) => keep[at] === 1 && words >= MIN_TEXT_WORDS);
  for (let title = text - 1; title >= 0 && text - title <= MAX_BLOCKS; title--) {
    if (nameOf(title) !== 'h1') continue;
    for (let at = title + 1; at < text; at++) if (isLead(at)) keep[at] = 1;
    return;
  }

  function isLead(at: number): boolean {
    const { owner, words, linkWords, phrases, text: own } = blocks[at]!;
    return (
      probabilities[at]! >= threshold * MIN_SHARE &&
      words >= MIN_LEAD_WORDS &&
      words <= MAX_LEAD_WORDS &&
      linkWords * 3 <= words &&
      (phrases & OTHER_PHRASES) === 0 &&
      LEAD_ELEMENTS.has(nameOf(at)) &&
      SENTENCE_END.test(own) &&
      !boilerplate[owner] &&
      !isInSeparatePart(survey, owner)
    );
  }
}
