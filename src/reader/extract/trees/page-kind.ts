/**
 * Determines the kind of a page. Fitted trees score the declared types of the page, its URL and its layout. Rules then
 * distinguish finer kinds: questions from threads; searches, tables and front pages from lists; videos from articles.
 */
import { attribute } from '#html/node.ts';
import type { PageKind } from '../../article.ts';
import type { Records } from '../blocks/records.ts';
import { isProse, type Survey } from '../blocks/survey.ts';
import type { Choice } from '../content/choose-blocks.ts';
import type { Selection } from '../content/select-content.ts';
import type { PageFacts } from './features.ts';
import { FITTED_KINDS } from './page-features.ts';

export interface PageKindEstimate {
  kind: PageKind;
  /** Probability of the predicted kind, 0 to 1; at least 0.5 if the page itself declares its kind. */
  confidence: number;
}

type FittedKind = (typeof FITTED_KINDS)[number];

/** Above this probability, the result of the trees is trusted. */
const TRUSTED_PROBABILITY = 0.6;
/** Confidence if the page itself declares its kind. */
const DECLARED_CONFIDENCE = 0.5;
/** Each of these values is a share of the kept words. */
const LIST_LINK_SHARE = 0.5;
const ARTICLE_PROSE_SHARE = 0.6;
/** Minimum number of boxes in a list of items, and maximum number of words in each. */
const MIN_ITEMS = 4;
const MAX_ITEM_WORDS = 60;
/** A page with fewer words and no other evidence counts as plain text. */
const MAX_PLAIN_WORDS = 100;
const THREADS = ['discussionforumposting', 'qapage'];
const LISTS = ['collectionpage', 'itemlist', 'searchresultspage', 'offercatalog'];
const PRODUCTS = ['product', 'og:product', 'productgroup'];
const ARTICLES = [
  'article',
  'newsarticle',
  'blogposting',
  'og:article',
  'reportagenewsarticle',
  'techarticle',
  'scholarlyarticle',
  'recipe',
];
const DOCUMENTATION = /(?:^|\/)(?:docs?|documentation|reference|manual|api|guides?|handbook)(?:\/|$)/i;

/** A page is a table if at least this share of its kept words is in cells. */
const TABLE_CELL_SHARE = 0.6;
/** A video page has at most this many words in sentences. */
const MAX_FILM_PROSE_WORDS = 250;

const SEARCHES =
  /(?:^|[/?&_-])(?:search|suche|recherche|busca|buscar|ricerca|zoeken|szukaj|sok|hledat|arama|results?)(?:[/?&=._-]|$)|[?&](?:q|query|s|k|keywords?|text|suchbegriff)=/i;
const FILMS = /(?:^|\/)(?:watch|videos?|v|clips?|films?|mediathek)(?:[/?-]|$)/i;
const ANSWERS = /answer|antwort|respuesta|reponse|risposta|resposta|odpowied|antwoord|svar\b/i;

/**
 * The kind of the page, determined from the kept part and, if the facts have it, the URL; null for a page that was not
 * scored.
 */
export function estimatePageKind(
  survey: Survey,
  { keep, choice }: Selection,
  facts: PageFacts,
): PageKindEstimate | null {
  if (!choice) return null;
  const kinds = choice.kindsAt(facts);
  const best = Math.max(...kinds);
  const likeliest = FITTED_KINDS[kinds.indexOf(best)]!;
  const declared = best >= TRUSTED_PROBABILITY ? null : kindByRules(survey, keep, choice, facts);
  const fitted = declared ?? likeliest;
  const probability = kinds[FITTED_KINDS.indexOf(fitted)]!;
  return {
    kind: splitKind(fitted, survey, keep, facts),
    confidence: declared ? Math.max(probability, DECLARED_CONFIDENCE) : probability,
  };
}

/**
 * Determines the kind of a page from its declared types, its URL and its prose, if the trees are unsure. The trees are
 * fitted to complete pages of sites, and are unreliable for a page with little more than its text. Null if there is no
 * evidence.
 */
function kindByRules(survey: Survey, keep: Uint8Array, { records }: Choice, facts: PageFacts): FittedKind | null {
  const claims = (types: readonly string[]) => types.some((type) => facts.types.has(type));
  if (claims(THREADS)) return 'forum';
  if (claims(LISTS)) return records.prices[0]! >= 3 ? 'collection' : 'listing';
  if (claims(PRODUCTS)) return 'product';
  if (DOCUMENTATION.test(facts.path)) return 'documentation';
  if (claims(ARTICLES)) return 'article';
  const { words, links, prose, cells } = measure(survey, keep);
  if (cells > words * TABLE_CELL_SHARE || links > words * LIST_LINK_SHARE || hasItems(records, words)) return 'listing';
  if (facts.isRoot) return 'service';
  return prose > words * ARTICLE_PROSE_SHARE || survey.words[0]! < MAX_PLAIN_WORDS ? 'article' : null;
}

function splitKind(fitted: FittedKind, survey: Survey, keep: Uint8Array, facts: PageFacts): PageKind {
  const claims = (...types: string[]) => types.some((type) => facts.types.has(type));
  switch (fitted) {
    case 'forum':
      return claims('qapage') || hasAnswers(survey) ? 'question' : 'forum';
    case 'product':
    case 'documentation':
      return fitted;
    default:
  }
  if (claims('qapage')) return 'question';
  if (claims('searchresultspage') || (fitted !== 'article' && SEARCHES.test(facts.pathAndQuery))) return 'search';
  const { words, cells, prose } = measure(survey, keep);
  if (isFilm(facts, claims) && prose <= MAX_FILM_PROSE_WORDS && fitted !== 'collection') return 'video';
  if (facts.isRoot && fitted !== 'collection') return 'home';
  return cells > words * TABLE_CELL_SHARE && fitted !== 'collection' ? 'table' : fitted;
}

/** Whether most of the page is in short boxes with the same tag and class, each with a link. */
function hasItems({ groups }: Records, words: number): boolean {
  for (let at = 0; at < groups.size; at++) {
    const count = groups.count[at]!;
    const own = groups.words[at]!;
    const isItems = count >= MIN_ITEMS && own >= words / 2 && own <= MAX_ITEM_WORDS * count;
    if (isItems && groups.linkWords[at]! >= count) return true;
  }
  return false;
}

const isFilm = ({ pathAndQuery }: PageFacts, claims: (...types: string[]) => boolean): boolean =>
  claims('videoobject', 'og:video', 'og:video.other', 'og:video.movie') &&
  (FILMS.test(pathAndQuery) || !claims('article', 'newsarticle', 'blogposting', 'og:article'));

interface Measure {
  words: number;
  links: number;
  cells: number;
  prose: number;
}

function measure(survey: Survey, keep: Uint8Array): Measure {
  const sum: Measure = { words: 0, links: 0, cells: 0, prose: 0 };
  for (let at = 0; at < keep.length; at++) {
    if (!keep[at]) continue;
    const block = survey.blocks[at]!;
    const { name } = survey.elements[block.owner]!;
    sum.words += block.words;
    sum.links += block.linkWords;
    if (name === 'td' || name === 'th') sum.cells += block.words;
    if (isProse(block)) sum.prose += block.words;
  }
  return sum;
}

/** Whether the class or id of some boxes on the page indicates answers. */
function hasAnswers({ elements }: Survey): boolean {
  return elements.some((element) => {
    const names = `${attribute(element, 'class') ?? ''} ${attribute(element, 'itemprop') ?? ''}`;
    return names.length > 1 && ANSWERS.test(names.slice(0, 200));
  });
}
