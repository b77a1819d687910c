/** What kind of page it is, from what it claims to be, its address, and how its text is laid out. */
import type { PageKind } from '../article.ts';
import { PARTS } from './class-words.ts';
import type { PageFacts } from './features.ts';
import { isProse, type Survey } from './survey.ts';

const bit = (part: (typeof PARTS)[number]) => 1 << PARTS.indexOf(part);

/** Share of the kept words that stand in elements whose names speak of a part. */
function shareOf(survey: Survey, keep: Uint8Array, part: (typeof PARTS)[number]): number {
  const inside = new Uint8Array(survey.elements.length);
  for (let at = 0; at < inside.length; at++) {
    const above = survey.parent[at]!;
    inside[at] = (survey.parts[at]! & bit(part)) !== 0 || (above >= 0 && inside[above]) ? 1 : 0;
  }
  let all = 0;
  let some = 0;
  for (let at = 0; at < keep.length; at++) {
    const { owner, words } = survey.blocks[at]!;
    if (!keep[at]) continue;
    all += words;
    if (inside[owner]) some += words;
  }
  return all === 0 ? 0 : some / all;
}

const LISTS = ['collectionpage', 'itemlist', 'searchresultspage', 'offercatalog'];
const ARTICLES = [
  'article',
  'newsarticle',
  'blogposting',
  'og:article',
  'reportagenewsarticle',
  'techarticle',
  'recipe',
];

/** The kind of the page, for what was kept of it; undefined when nothing speaks for any. */
export function kindOf(survey: Survey, keep: Uint8Array, facts: PageFacts): PageKind | undefined {
  const claims = (...types: string[]) => types.some((type) => facts.types.has(type));
  if (claims('qapage')) return 'question';
  if (claims('discussionforumposting')) return 'forum';
  if (claims('product', 'og:product', 'productgroup') && !claims(...LISTS)) return 'product';
  if (/(?:^|\/)(?:docs?|documentation|reference|manual|api|guides?|handbook)(?:\/|$)/i.test(facts.path))
    return 'documentation';
  if (claims(...ARTICLES)) return 'article';
  if ((facts.urlParts & bit('thread')) !== 0 && shareOf(survey, keep, 'thread') > 0.5) return 'forum';
  let words = 0;
  let links = 0;
  let prose = 0;
  let cells = 0;
  let prices = 0;
  for (let at = 0; at < keep.length; at++) {
    if (!keep[at]) continue;
    const block = survey.blocks[at]!;
    words += block.words;
    links += block.linkWords;
    if (isProse(block)) prose += block.words;
    const { name } = survey.elements[block.owner]!;
    if (name === 'td' || name === 'th') cells += block.words;
    if (/[$€£¥₹]\s?\d|\d\s?[$€£¥₹]/.test(block.text)) prices++;
  }
  if (words === 0) return undefined;
  if (cells > words * 0.6) return 'table';
  if (prices > 7 && prose < words * 0.5) return 'collection';
  if (facts.urlDepth === 0) return 'home';
  if (claims(...LISTS) || links > words * 0.35) return 'listing';
  if (prose > words * 0.6) return 'article';
  return 'service';
}
