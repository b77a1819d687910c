/**
 * What the source of a page tells about its scripts: whether there are any that could change what there is to read, and
 * whether the page plainly waits for them.
 */
import {
  attribute,
  type Child,
  type Document,
  type Element,
  find,
  following,
  isElement,
  TEXT,
  textOf,
} from '#html/node.ts';
import { extractArticle } from '../extract/extract.ts';
import { countTokens } from '../tokens.ts';
import { countWords } from '../words.ts';
import { codeOnLoad, hidingStyle, isExecutable } from './page-scripts.ts';
import { type ShownFile, shownFile } from './shown-file.ts';
import { type Template, templateOf } from './template.ts';

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
  /** What pages of one template have in common; absent where nothing follows from that. */
  readonly template?: Template | undefined;
}

/** The sign of a page that has no content but that of its frames. */
export const MADE_OF_FRAMES = 'its frames are its content';
/** HTML with fewer words of main content than this has next to nothing to say. */
export const ENOUGH_WORDS = 30;
/** With more words than this a placeholder or an empty root is one of the page's corners. */
const MEAGRE_WORDS = 150;
const START_CHARACTERS = 1_000;

/** Looks at the source of a page. `document` is used up; loadTokens() must have finished. */
export function evidenceOf(document: Document, url: string): Evidence {
  const seen = survey(document);
  const shown = shownFile(document, url);
  // Extraction cuts the tree.
  const template = seen.scripts || seen.styles ? templateOf(document) : undefined;
  const { content } = extractArticle(document, { url, baseUrl: url, whole: false });
  const text = textOf(content);
  const words = countWords(text);
  const { scripts, styles } = seen;
  const file = words < ENOUGH_WORDS ? shown : undefined;
  const sign = scripts || seen.refreshes || seen.frames ? signOf(seen, words, url) : undefined;
  return {
    words,
    tokens: countTokens(text.slice(0, START_CHARACTERS)),
    scripts,
    styles,
    sign: sign ?? (file && 'the page shows a file'),
    file,
    ...(template && { template: { ...template, words } }),
  };
}

export interface Survey {
  scripts: boolean;
  styles: boolean;
  refreshes: boolean;
  /** Whether the page is a set of frames. */
  frames: boolean;
  challenge: boolean;
  asksForScripts: boolean;
  roots: number;
  emptyRoot: boolean;
  placeholders: number;
}

function signOf(seen: Survey, words: number, url: string): string | undefined {
  if (seen.refreshes) return 'the page redirects itself';
  if (seen.frames) return MADE_OF_FRAMES;
  if (/^#(?:\/|!)/.test(fragmentOf(url))) return 'its URL is a route of its scripts';
  if (words >= MEAGRE_WORDS) return undefined;
  if (seen.challenge) return 'the page is a challenge';
  if (seen.emptyRoot) return 'its content is made by scripts';
  if (seen.asksForScripts) return 'the page asks for scripts';
  if (seen.placeholders >= 3) return 'it shows placeholders for its content';
  return words < ENOUGH_WORDS ? 'too little content without scripts' : undefined;
}

/** Whether the content of a page that was not rendered is likely to be made by the scripts that were not run. */
export function waitsForScripts(seen: Survey, words: number, url: string): boolean {
  return seen.scripts && signOf({ ...seen, refreshes: false, frames: false }, words, url) !== undefined;
}

const fragmentOf = (url: string) => (url.includes('#') ? url.slice(url.indexOf('#')) : '');

/** The signs in the source of a page; to be called before extraction, which cuts the tree. */
export function survey(document: Document): Survey {
  const seen: Survey = {
    scripts: false,
    styles: false,
    refreshes: false,
    frames: false,
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
    case 'link':
      if (hidingStyle(element) !== undefined) seen.styles = true;
      return;
    case 'frame':
      seen.frames = true;
      return;
    case 'meta':
      if (isRefresh(element)) seen.refreshes = true;
      return;
  }
  if (codeOnLoad(element) !== undefined) seen.scripts = true;
  if (isAppRoot(element) && seen.roots++ < MAX_ROOTS && !hasContent(element)) seen.emptyRoot = true;
  if (isPlaceholder(element)) seen.placeholders++;
}

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
