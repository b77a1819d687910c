/**
 * What kind of page it is. Fitted trees weigh what it claims to be, its address and how its text is laid out; rules
 * tell finer kinds from theirs: questions from threads, searches, tables and front pages from lists, films from
 * articles.
 */
import { attribute } from '#html/node.ts';
import type { PageKind } from '../../article.ts';
import type { Records } from '../blocks/records.ts';
import { isProse, type Survey } from '../blocks/survey.ts';
import type { Choice } from '../content/choose.ts';
import type { Selection } from '../content/select-content.ts';
import type { PageFacts } from './features.ts';
import { FITTED_KINDS } from './page-features.ts';

export interface KindOfPage {
  kind: PageKind;
  /** How probable the fitted kind is that it was told from, 0 to 1; at least a half where the page itself tells it. */
  confidence: number;
}

type FittedKind = (typeof FITTED_KINDS)[number];

/** From here on the trees are believed. */
const SURE = 0.6;
/** How sure it is when the page itself tells its kind. */
const TOLD = 0.5;
/** Shares of the kept words. */
const MOSTLY_LINKS = 0.5;
const MOSTLY_PROSE = 0.6;
/** So many boxes of so many words at most are the items of a list. */
const LEAST_ITEMS = 4;
const LARGEST_ITEM = 60;
/** A page of fewer words that says nothing else of itself is taken for plain text. */
const FEW_WORDS = 100;
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

/** Share of the kept words in cells from which on a page is its table. */
const TABULAR = 0.6;
/** A film's page says no more than this in sentences. */
const MOST_WORDS_OF_FILM = 250;

const SEARCHES =
  /(?:^|[/?&_-])(?:search|suche|recherche|busca|buscar|ricerca|zoeken|szukaj|sok|hledat|arama|results?)(?:[/?&=._-]|$)|[?&](?:q|query|s|k|keywords?|text|suchbegriff)=/i;
const FILMS = /(?:^|\/)(?:watch|videos?|v|clips?|films?|mediathek)(?:[/?-]|$)/i;
const ANSWERS = /answer|antwort|respuesta|reponse|risposta|resposta|odpowied|antwoord|svar\b/i;

/** The kind of the page, for what was kept of it; null for a page that was not weighed. */
export function kindOf(survey: Survey, { keep, choice }: Selection, facts: PageFacts): KindOfPage | null {
  if (!choice) return null;
  const { kinds } = choice;
  const best = Math.max(...kinds);
  const weighed = FITTED_KINDS[kinds.indexOf(best)]!;
  const told = best >= SURE ? null : plainKind(survey, keep, choice, facts);
  const fitted = told ?? weighed;
  const probability = kinds[FITTED_KINDS.indexOf(fitted)]!;
  return { kind: finer(fitted, survey, keep, facts), confidence: told ? Math.max(probability, TOLD) : probability };
}

/**
 * The kind of a page that the trees are not sure of, by what it says it is, its address and its prose: the trees know
 * whole pages of sites, and say little about a page that is little more than its text. Null when nothing speaks.
 */
function plainKind(survey: Survey, keep: Uint8Array, { records }: Choice, facts: PageFacts): FittedKind | null {
  const claims = (types: readonly string[]) => types.some((type) => facts.types.has(type));
  if (claims(THREADS)) return 'forum';
  if (claims(LISTS)) return records.prices[0]! >= 3 ? 'collection' : 'listing';
  if (claims(PRODUCTS)) return 'product';
  if (DOCUMENTATION.test(facts.path)) return 'documentation';
  if (claims(ARTICLES)) return 'article';
  const { words, links, prose, cells } = measure(survey, keep);
  if (cells > words * TABULAR || links > words * MOSTLY_LINKS || hasItems(records, words)) return 'listing';
  if (facts.isRoot) return 'service';
  return prose > words * MOSTLY_PROSE || survey.words[0]! < FEW_WORDS ? 'article' : null;
}

function finer(fitted: FittedKind, survey: Survey, keep: Uint8Array, facts: PageFacts): PageKind {
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
  if (claims('searchresultspage') || (fitted !== 'article' && SEARCHES.test(facts.address))) return 'search';
  const { words, cells, prose } = measure(survey, keep);
  if (isFilm(facts, claims) && prose <= MOST_WORDS_OF_FILM && fitted !== 'collection') return 'video';
  if (facts.isRoot && fitted !== 'collection') return 'home';
  return cells > words * TABULAR && fitted !== 'collection' ? 'table' : fitted;
}

/** Whether most of the page stands in short boxes of one look, each with a link. */
function hasItems({ groups }: Records, words: number): boolean {
  for (let at = 0; at < groups.size; at++) {
    const count = groups.count[at]!;
    const own = groups.words[at]!;
    const isItems = count >= LEAST_ITEMS && own >= words / 2 && own <= LARGEST_ITEM * count;
    if (isItems && groups.linkWords[at]! >= count) return true;
  }
  return false;
}

const isFilm = ({ address }: PageFacts, claims: (...types: string[]) => boolean): boolean =>
  claims('videoobject', 'og:video', 'og:video.other', 'og:video.movie') &&
  (FILMS.test(address) || !claims('article', 'newsarticle', 'blogposting', 'og:article'));

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

/** Whether boxes of the page are named for answers. */
function hasAnswers({ elements }: Survey): boolean {
  return elements.some((element) => {
    const names = `${attribute(element, 'class') ?? ''} ${attribute(element, 'itemprop') ?? ''}`;
    return names.length > 1 && ANSWERS.test(names.slice(0, 200));
  });
}
