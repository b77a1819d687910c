/**
 * Chooses the title of a page, without the name of its site. Titles in the head are written for search engines and
 * sharing, while readers see the heading. A heading is therefore used if the head or the URL confirms it. An
 * unconfirmed heading (often a logo, slogan or section name) is not used.
 */
import { isUrl } from '#is-url.ts';
import { lettersAndDigits, type SiteNames, wordsOf } from './site-name.ts';
import { isFrontPage } from './urls.ts';

export interface TitleSources {
  /** Titles that the page declares apart from `<title>`, the most trusted first; one line each. */
  declaredTitles: readonly string[];
  documentTitle: string;
  /** Texts of the h1 elements in document order. */
  headings: readonly string[];
  site: SiteNames;
  url: string;
}

/** Separators between the parts of a title; a hyphen between letters is not a separator. */
const SEPARATOR =
  /\s*[|｜¦]+\s*|\s*[»«›‹•]\s*|\s+[-–—−:·/\\~<>→←_]+\s+|:\s+|(?<=[^\x00-\u2e7f])[-—_－]+|[-—_－]+(?=[^\x00-\u2e7f])/gu;

/** Words that are never the title of a page by themselves. */
const EMPTY_TITLES = new Set(['home', 'homepage', 'index', 'untitled', 'untitleddocument', 'welcome', 'loading']);

/** Parts between the title and the site's name, or before the title. */
const SECTIONS = new Set(['blog', 'news', 'forum', 'forums', 'viewtopic', 'topic', 'home']);

interface Part {
  from: number;
  to: number;
}

function partsOf(title: string): Part[] {
  const parts: Part[] = [];
  let from = 0;
  for (const bound of title.matchAll(SEPARATOR)) {
    if (bound.index === 0) continue;
    parts.push({ from, to: bound.index });
    from = bound.index + bound[0].length;
  }
  parts.push({ from, to: title.length });
  return parts;
}

/** The title without site names at its ends; the whole title if nothing else would remain. */
export function withoutSiteName(title: string, site: SiteNames): string {
  const parts = partsOf(title);
  const text = ({ from, to }: Part) => title.slice(from, to);
  const isSection = (part: Part) => SECTIONS.has(lettersAndDigits(text(part)));
  let first = 0;
  let last = parts.length - 1;
  while (last > first) {
    const rest = title.slice(parts[first]!.from, parts[last - 1]!.to);
    const isCut = last < parts.length - 1;
    if (!(site.containsName(text(parts[last]!)) || (isCut && isSection(parts[last]!))) || site.isName(rest)) break;
    last--;
  }
  while (last > first) {
    const rest = title.slice(parts[first + 1]!.from, parts[last]!.to);
    if (!(site.isName(text(parts[first]!)) || (first > 0 && isSection(parts[first]!))) || site.isName(rest)) break;
    first++;
  }
  return title.slice(parts[first]!.from, parts[last]!.to).trim();
}

/** Similarity of two word lists: F1 over distinct words. */
function similarity(left: readonly string[], right: readonly string[]): number {
  const a = new Set(left);
  const b = new Set(right);
  let both = 0;
  for (const word of a) if (b.has(word)) both++;
  return a.size + b.size === 0 ? 0 : (2 * both) / (a.size + b.size);
}

/** Whether `outer` contains `inner` as consecutive whole words. */
const containsWords = (outer: readonly string[], inner: readonly string[]): boolean =>
  ` ${outer.join(' ')} `.includes(` ${inner.join(' ')} `);

/** Minimum similarity with a title for a heading to count as the page's heading. */
const MIN_SIMILARITY = 0.5;

/** Degree to which the head and the URL confirm a heading, 0 to 2; values below `MIN_SIMILARITY` are not enough. */
function support(heading: string, titles: readonly string[], slug: readonly string[]): number {
  const words = wordsOf(heading);
  if (words.length === 0) return 0;
  let best = slug.length >= 3 ? similarity(words, slug) : 0;
  for (const [at, title] of titles.entries()) {
    const titleWords = wordsOf(title);
    const similar = similarity(words, titleWords);
    // A single word may be the name of a section; only the most trusted title can confirm it.
    if (words.length === 1 && at > 0) break;
    if (similar === 1) return 2;
    const isInside =
      words.length > 1
        ? containsWords(titleWords, words)
        : lettersAndDigits(title.slice(0, partsOf(title)[0]!.to)) === words[0];
    best = Math.max(best, similar, isInside ? 1 : 0);
  }
  return best;
}

/** Text that is all upper case or all lower case follows the site's style, not the spelling of the title. */
const isOneCase = (text: string) => text === text.toUpperCase() || text === text.toLowerCase();

const isCutOff = (text: string) => /(?:\.\.\.|…)$/.test(text);

/** The words of the last part of the URL that contains any. */
function slugOf(url: string): string[] {
  if (!isUrl(url)) return [];
  const segments = new URL(url).pathname.split('/').filter(Boolean);
  const last = (segments.at(-1) ?? '').slice(0, 300).replace(/\.[a-z]{2,5}$/i, '');
  try {
    return wordsOf(decodeURIComponent(last));
  } catch {
    return wordsOf(last);
  }
}

/**
 * Headings that name the site: `<title>` ends with such a heading after the page's name, and neither the URL nor
 * another title repeats it.
 */
function logosAmong(
  { headings, declaredTitles, documentTitle, site }: TitleSources,
  slug: readonly string[],
): Set<string> {
  const parts = partsOf(documentTitle);
  const last = lettersAndDigits(documentTitle.slice(parts.at(-1)!.from));
  const isRepeated = lettersAndDigits(documentTitle.slice(0, parts[0]!.to)) === last;
  const logo = headings.find((heading) => lettersAndDigits(heading) === last);
  if (parts.length < 2 || isRepeated || logo === undefined) return new Set();
  const isTitle =
    (slug.length >= 3 && similarity(wordsOf(logo), slug) >= MIN_SIMILARITY) ||
    declaredTitles.some((title) => lettersAndDigits(withoutSiteName(title, site)) === last);
  if (isTitle) return new Set();
  // A colon directly after a word separates a label and the title. Only a colon with a space before it may separate the
  // title and the site's name.
  if (documentTitle[parts.at(-2)!.to] === ':' && !site.isName(logo)) return new Set();
  // Titles that begin with the site's name are as common. There must be evidence that the first part is the page's own
  // title; at the very least, it must be longer.
  const first = documentTitle.slice(0, parts.at(-2)!.to);
  const isNamed =
    wordsOf(first).length > wordsOf(logo).length ||
    site.isName(logo) ||
    similarity(wordsOf(first), slug) >= MIN_SIMILARITY ||
    headings.some((heading) => lettersAndDigits(heading) === lettersAndDigits(first)) ||
    declaredTitles.some((title) => lettersAndDigits(title) === lettersAndDigits(first));
  return new Set(isNamed ? [last] : []);
}

/** The heading with the most support from the titles and the URL; '' if none has any. */
function headingOf(headings: readonly string[], titles: readonly string[], slug: readonly string[]): string {
  let best = '';
  let most = MIN_SIMILARITY;
  for (const heading of headings) {
    const value = support(heading, titles, slug);
    if (value < most || (best && value === most)) continue;
    best = heading;
    most = value;
  }
  return best;
}

/** Chooses the title; '' if the page has none. */
export function chooseTitle(sources: TitleSources): string {
  const { declaredTitles, documentTitle, url } = sources;
  const heads = [...new Set([...declaredTitles, documentTitle])].filter((title) => title !== '');
  const isEmpty = (title: string) => EMPTY_TITLES.has(lettersAndDigits(title));
  if (isFrontPage(url)) return heads.find((title) => !isEmpty(title)) ?? sources.headings[0] ?? heads[0] ?? '';
  const slug = slugOf(url);
  const logos = logosAmong(sources, slug);
  const site: SiteNames = {
    isName: (piece) => logos.has(lettersAndDigits(piece)) || sources.site.isName(piece),
    containsName: (piece) => logos.has(lettersAndDigits(piece)) || sources.site.containsName(piece),
  };
  const headings = sources.headings.filter((one) => !site.isName(one));
  const parts = partsOf(documentTitle);
  const last = lettersAndDigits(documentTitle.slice(parts.at(-1)!.from));
  // If the head's title ends with this heading, and the heading is not a logo, the part before it is the site's name.
  const ending = parts.length > 1 ? headings.find((one) => lettersAndDigits(one) === last) : undefined;
  if (ending !== undefined && declaredTitles.length === 0) return ending;
  const bare = new Set(heads.map((title) => withoutSiteName(title, site)));
  const cut = [...bare].filter((title) => !isEmpty(title) && !site.isName(title));
  const heading = headingOf(headings, cut, slug);
  if (!heading) {
    const whole = cut.find((title) => !isCutOff(title)) ?? cut[0];
    return whole ?? headings[0] ?? heads[0] ?? sources.headings[0] ?? '';
  }
  const same = cut.find((title) => lettersAndDigits(title) === lettersAndDigits(heading));
  if (same) return isOneCase(heading) && !isOneCase(same) ? same : heading;
  // A heading may contain a label or an edition next to the title.
  const words = wordsOf(heading);
  return cut.find((title) => wordsOf(title).length >= 3 && containsWords(words, wordsOf(title))) ?? heading;
}
