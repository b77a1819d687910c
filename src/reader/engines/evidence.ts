/**
 * What the source of a page tells about its scripts: whether there are any that could change what there is to read, and
 * whether the page plainly waits for them. And, once it was rendered, whether they changed anything.
 */
import {
  attribute,
  type Child,
  type Document,
  type Element,
  elements,
  find,
  following,
  hasAttribute,
  isElement,
  TEXT,
  textOf,
} from '#html/node.ts';
import { parseDocument } from '#html/parse.ts';
import { extractArticle } from '../extract/extract.ts';
import { countTokens } from '../tokens.ts';
import { countWords } from '../words.ts';
import { type ShownFile, shownFile } from './shown-file.ts';

export interface Evidence {
  /** Words of main content that stand in the source. */
  readonly words: number;
  /** Tokens of the first 1,000 characters of that content: as much as tells a page from an empty one. */
  readonly tokens: number;
  /** Whether there are scripts that could change what there is to read. */
  readonly scripts: boolean;
  /** Whether there are style sheets that could hide some of it. */
  readonly styles: boolean;
  /** Why the source cannot be all there is to read, in a few words. */
  readonly sign?: string | undefined;
  /** The file that a page with next to nothing to say shows. */
  readonly file?: ShownFile | undefined;
}

/** HTML with fewer words of main content than this has next to nothing to say. */
export const ENOUGH_WORDS = 30;
/** With more words than this a placeholder or an empty root is one of the page's corners. */
const MEAGRE_WORDS = 150;
const START_CHARACTERS = 1_000;

/** Looks at the source of a page. `document` is used up; loadTokens() must have finished. */
export function evidenceOf(document: Document, url: string): Evidence {
  const seen = survey(document);
  const shown = shownFile(document, url);
  const { content } = extractArticle(document, { url, baseUrl: url, whole: false });
  const text = textOf(content);
  const words = countWords(text);
  const { scripts, styles } = seen;
  const file = words < ENOUGH_WORDS ? shown : undefined;
  const sign = scripts || seen.refreshes ? signOf(seen, words, url) : undefined;
  return {
    words,
    tokens: countTokens(text.slice(0, START_CHARACTERS)),
    scripts,
    styles,
    sign: sign ?? (file && 'the page shows a file'),
    file,
  };
}

interface Survey {
  scripts: boolean;
  styles: boolean;
  refreshes: boolean;
  challenge: boolean;
  asksForScripts: boolean;
  roots: number;
  emptyRoot: boolean;
  placeholders: number;
}

function signOf(seen: Survey, words: number, url: string): string | undefined {
  if (seen.refreshes) return 'the page sends itself on';
  if (/^#(?:\/|!)/.test(fragmentOf(url))) return 'its address is one of a router in scripts';
  if (words >= MEAGRE_WORDS) return undefined;
  if (seen.challenge) return 'a challenge stands before the page';
  if (seen.emptyRoot) return 'its content is made by scripts';
  if (seen.asksForScripts) return 'the page asks for scripts';
  if (seen.placeholders >= 3) return 'placeholders stand where its content will';
  return words < ENOUGH_WORDS ? 'too little content without scripts' : undefined;
}

const fragmentOf = (url: string) => (url.includes('#') ? url.slice(url.indexOf('#')) : '');

function survey(document: Document): Survey {
  const seen: Survey = {
    scripts: false,
    styles: false,
    refreshes: false,
    challenge: isChallengeTitle(titleOf(document)),
    asksForScripts: false,
    roots: 0,
    emptyRoot: false,
    placeholders: 0,
  };
  let skip = false;
  for (let node = following(document, document); node; node = following(node, document, skip)) {
    // What stands in `noscript` is for those who run no scripts.
    skip = isElement(node) && node.name === 'noscript';
    if (isElement(node)) note(node, seen);
  }
  return seen;
}

function note(element: Element, seen: Survey): void {
  switch (element.name) {
    case 'script':
      if (isExecutable(element)) seen.scripts = true;
      if (CHALLENGES.test(attribute(element, 'src') ?? '')) seen.challenge = true;
      return;
    case 'noscript':
      if (/javascript/i.test(textOf(element).slice(0, START_CHARACTERS))) seen.asksForScripts = true;
      return;
    case 'style':
      if (MAY_HIDE.test(textOf(element).slice(0, MAX_STYLE))) seen.styles = true;
      return;
    case 'link':
      if (/\bstylesheet\b/i.test(attribute(element, 'rel') ?? '')) seen.styles = true;
      return;
    case 'meta':
      if (isRefresh(element)) seen.refreshes = true;
      return;
    case 'body':
      if (hasAttribute(element, 'onload')) seen.scripts = true;
  }
  if (isAppRoot(element) && seen.roots++ < MAX_ROOTS && !hasContent(element)) seen.emptyRoot = true;
  if (isPlaceholder(element)) seen.placeholders++;
}

/** Types by which a script element holds data, by the HTML standard's list of what is JavaScript. */
const JAVASCRIPT = /^(?:(?:text|application)\/(?:x-)?(?:java|ecma|live|j)script(?:1\.\d)?|module|)$/i;

function isExecutable(script: Element): boolean {
  const type = (attribute(script, 'type') ?? '').split(';', 1)[0]!.trim();
  if (!JAVASCRIPT.test(type)) return false;
  const source = attribute(script, 'src');
  if (source !== null) return source.trim() !== '' && !ANALYTICS_SOURCES.test(source);
  const code = textOf(script).trim();
  return code !== '' && !isHarmless(code);
}

/** Scripts that count visitors: none of them makes content. */
const ANALYTICS_SOURCES =
  /^(?:https?:)?\/\/(?:[a-z0-9-]+\.)*(?:google-analytics\.com|googletagmanager\.com|static\.cloudflareinsights\.com|plausible\.io|usefathom\.com|goatcounter\.com|statcounter\.com|hotjar\.com|clarity\.ms|connect\.facebook\.net|matomo\.cloud|mc\.yandex\.ru|scorecardresearch\.com|chartbeat\.com|quantserve\.com|umami\.is|simpleanalyticscdn\.com)(?::\d+)?\//i;
const ANALYTICS_CODE =
  /\b(?:gtag|dataLayer|_gaq|GoogleAnalyticsObject|fbq|_paq|plausible|clarity|_hjSettings|goatcounter)\b/;
const MAKES_CONTENT =
  /innerHTML|outerHTML|insertAdjacent|document\.write|textContent|innerText|hydrat|render|fetch\(|XMLHttpRequest|import\(/;
/** Tells the page's own style sheets that scripts run. */
const MARKS_THE_ROOT =
  /^document\.(?:documentElement|body)\.class(?:Name|List)\b[^;{}()]{0,200}(?:\([^;{}()]{0,200}\))?[^;{}()]{0,100};?$/;
const MAX_SNIPPET = 4_000;

const isHarmless = (code: string) =>
  code.length <= MAX_SNIPPET && !MAKES_CONTENT.test(code) && (ANALYTICS_CODE.test(code) || MARKS_THE_ROOT.test(code));

const MAX_STYLE = 500_000;
/** Rules by which text may be on the page and not to be seen, those of a style attribute aside: these are read anyway. */
const MAY_HIDE =
  /display\s*:\s*none|visibility\s*:|opacity\s*:|clip|text-indent\s*:\s*-|font-size\s*:\s*[01](?:\D|$)|(?:left|top|right|bottom|margin|margin-left|margin-top)\s*:\s*-\d|(?:width|height)\s*:\s*[01](?:px)?\s*[;}]|transform|@import|color\s*:\s*(?:#f|white|transparent|rgba?\(\s*2[0-5]\d)/i;

const CHALLENGES =
  /\/cdn-cgi\/challenge-platform\/|captcha-delivery\.com|_Incapsula_Resource|\.awswaf\.com|\/_sec\/cp_challenge|ddos-guard|px-cdn\.net|perimeterx/i;
const isChallengeTitle = (title: string) =>
  /^(?:just a moment|attention required|checking your browser|one moment, please|ddos-guard|please wait|verifying)/i.test(
    title,
  );

const titleOf = (document: Document) => {
  const title = find(document, 'title');
  return title ? textOf(title).trim().slice(0, 200) : '';
};

const isRefresh = (meta: Element) =>
  attribute(meta, 'http-equiv')?.trim().toLowerCase() === 'refresh' &&
  /^\s*0*\d?(?:\.\d*)?\s*[;,]\s*(?:url\s*=)?\s*\S/i.test((attribute(meta, 'content') ?? '').slice(0, 200));

/** Where frameworks put what they make. */
const ROOT_IDS = new Set(
  'root app __next __nuxt ___gatsby react-root react-app main-app app-root application svelte ember-application q-app mount'.split(
    ' ',
  ),
);
const isAppRoot = (element: Element) =>
  element.name === 'app-root' || ROOT_IDS.has(attribute(element, 'id')?.toLowerCase() ?? '');

const ROOT_CHARACTERS = 60;
/** A page has one or two; each is walked through. */
const MAX_ROOTS = 10;

/** Whether there is more than a word of waiting inside; reads no further than it must. */
function hasContent(root: Element): boolean {
  let characters = 0;
  for (let node: Child | null = following(root, root); node; node = following(node, root, isUnread(node))) {
    if (node.type === TEXT) characters += node.value.trim().length;
    if (characters > ROOT_CHARACTERS) return true;
  }
  return false;
}

const isUnread = (node: Child) =>
  isElement(node) && (node.name === 'script' || node.name === 'style' || node.name === 'noscript');

const isPlaceholder = (element: Element) =>
  attribute(element, 'aria-busy') === 'true' ||
  /(?:^|[\s_-])(?:skeleton|shimmer|placeholder-glow|ghost-loading|content-loader)/i.test(
    (attribute(element, 'class') ?? '').slice(0, 500),
  );

/** How much of a page may change without its being another (contract, section 11). */
const ALIKE = 0.95;

/** Whether rendering a page made no difference to what there is to read: nearly the same elements and words. */
export function isUnchanged(fetched: string, rendered: string, url: string): boolean {
  const [before, after] = [readable(fetched, url), readable(rendered, url)];
  return ratio(before.elements, after.elements) >= ALIKE && overlap(before.words, after.words) >= ALIKE;
}

/** Elements that are not read, and that scripts leave behind without changing what is. */
const NOT_READ = new Set('script style link meta noscript template iframe base'.split(' '));

function readable(html: string, url: string) {
  const document = parseDocument(html);
  let count = 0;
  for (const { name } of elements(document)) if (!NOT_READ.has(name)) count++;
  const { content } = extractArticle(document, { url, baseUrl: url, whole: false });
  return { elements: count, words: textOf(content).match(/[\p{L}\p{N}\p{M}]+/gu) ?? [] };
}

const ratio = (one: number, other: number) => (one === other ? 1 : Math.min(one, other) / Math.max(one, other));

/** How many words two texts share, each as often as it stands in both, by the longer of them. */
function overlap(one: readonly string[], other: readonly string[]): number {
  const left = new Map<string, number>();
  for (const word of one) left.set(word, (left.get(word) ?? 0) + 1);
  let shared = 0;
  for (const word of other) {
    const count = left.get(word) ?? 0;
    if (count === 0) continue;
    shared++;
    left.set(word, count - 1);
  }
  const most = Math.max(one.length, other.length);
  return most === 0 ? 1 : shared / most;
}
