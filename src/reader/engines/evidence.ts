/**
 * Determines from the HTML of a page whether scripts could change its content, and whether the page clearly depends on
 * them.
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
import type { Blocked } from '../blocked/blocked.ts';
import { examinePage } from '../blocked/examine.ts';
import type { ResponseMarks } from '../blocked/response-marks.ts';
import { extractArticle } from '../extract/extract.ts';
import { removeInvisibleParts } from '../extract/visibility/invisible-parts.ts';
import { countTokens } from '../tokens.ts';
import { countWords } from '../words.ts';
import { type EmbeddedFile, findEmbeddedFile } from './embedded-file.ts';
import { FRAMESET_SIGN, MIN_WORDS } from './evidence-values.ts';
import { codeOnLoad, hidingStyle, isExecutable } from './page-scripts.ts';
import { type Template, templateOf } from './template.ts';

export interface Evidence {
  /** Number of words of main content in the HTML. */
  readonly words: number;
  /** Number of tokens in the first 1,000 characters of that content: enough to recognize an empty page. */
  readonly tokens: number;
  /** Whether scripts could change the content. */
  readonly scripts: boolean;
  /** Whether style sheets could hide content. */
  readonly styles: boolean;
  /** The reason why the HTML cannot be the whole content, in a few words. */
  readonly sign?: string | undefined;
  /** The file that a page with almost no text embeds. */
  readonly file?: EmbeddedFile | undefined;
  /** What the page is instead of the content; absent for content. */
  readonly blocked?: Blocked | undefined;
  /** Fingerprint of the page's template; absent if the page cannot be compared. */
  readonly template?: Template | undefined;
}

/** If the HTML has more words than this, a placeholder or empty root is only a minor part of the page. */
const FEW_WORDS = 150;
const START_CHARACTERS = 1_000;

/** The parts of a response that help to tell content from what was sent in its place. */
export interface PageAnswer {
  readonly status: number;
  readonly response?: ResponseMarks | undefined;
}

const OK: PageAnswer = { status: 200 };

/** Examines the HTML of a page. Consumes `document`; call loadTokens() first. */
export function evidenceOf(document: Document, url: string, answer = OK): Evidence {
  const blocked = examinePage(document, { url, ...answer });
  const signs = findSigns(document);
  const shown = findEmbeddedFile(document, url);
  // Must run before extraction, which removes nodes from the tree.
  const template = signs.scripts || signs.styles ? templateOf(document) : undefined;
  const invisibleParts = removeInvisibleParts(document);
  const { content } = extractArticle(document, { url, baseUrl: url, whole: false, invisibleParts });
  const text = textOf(content);
  const words = countWords(text);
  const { scripts, styles } = signs;
  const file = words < MIN_WORDS ? shown : undefined;
  const { isMainHidden } = invisibleParts;
  const sign = scripts || signs.refreshes || signs.frames ? signFor({ ...signs, isMainHidden }, words, url) : undefined;
  return {
    words,
    tokens: countTokens(text.slice(0, START_CHARACTERS)),
    scripts,
    styles,
    sign: sign ?? (file && 'the page shows a file'),
    file,
    ...(blocked && { blocked }),
    ...(template && { template: { ...template, words } }),
  };
}

export interface PageSigns {
  scripts: boolean;
  styles: boolean;
  refreshes: boolean;
  /** Whether the page is a frameset. */
  frames: boolean;
  challenge: boolean;
  asksForScripts: boolean;
  roots: number;
  emptyRoot: boolean;
  placeholders: number;
}

function signFor(signs: PageSigns & { isMainHidden?: boolean }, words: number, url: string): string | undefined {
  if (signs.refreshes) return 'the page redirects itself';
  if (signs.frames) return FRAMESET_SIGN;
  if (/^#(?:\/|!)/.test(fragmentOf(url))) return 'its URL is a route of its scripts';
  if (signs.isMainHidden) return 'its main part is hidden until its scripts run';
  if (words >= FEW_WORDS) return undefined;
  if (signs.challenge) return 'the page is a challenge';
  if (signs.emptyRoot) return 'its content is created by scripts';
  if (signs.asksForScripts) return 'the page asks for scripts';
  if (signs.placeholders >= 3) return 'it shows placeholders for its content';
  return words < MIN_WORDS ? 'too little content without scripts' : undefined;
}

/** Whether the content of an unrendered page probably comes from scripts that were not run. */
export function waitsForScripts(signs: PageSigns, words: number, url: string): boolean {
  return signs.scripts && signFor({ ...signs, refreshes: false, frames: false }, words, url) !== undefined;
}

const fragmentOf = (url: string) => (url.includes('#') ? url.slice(url.indexOf('#')) : '');

/** Collects the evidence in the HTML of a page. Call it before extraction, which removes nodes from the tree. */
export function findSigns(document: Document): PageSigns {
  const signs: PageSigns = {
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
    // `noscript` content does not count, since scripts are enabled.
    skip = isElement(node) && node.name === 'noscript';
    if (isElement(node)) collect(node, signs);
  }
  return signs;
}

function collect(element: Element, signs: PageSigns): void {
  switch (element.name) {
    case 'script':
      if (isExecutable(element)) signs.scripts = true;
      if (CHALLENGES.test(attribute(element, 'src') ?? '')) signs.challenge = true;
      return;
    case 'noscript':
      if (/javascript/i.test(textOf(element).slice(0, START_CHARACTERS))) signs.asksForScripts = true;
      return;
    case 'style':
    case 'link':
      if (hidingStyle(element) !== undefined) signs.styles = true;
      return;
    case 'frame':
      signs.frames = true;
      return;
    case 'meta':
      if (isRefresh(element)) signs.refreshes = true;
      return;
  }
  if (codeOnLoad(element) !== undefined) signs.scripts = true;
  if (isAppRoot(element) && signs.roots++ < MAX_ROOTS && !hasContent(element)) signs.emptyRoot = true;
  if (isPlaceholder(element)) signs.placeholders++;
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

/** Ids of the elements that frameworks render into. */
const ROOT_IDS = new Set(
  'root app __next __nuxt ___gatsby react-root react-app main-app app-root application svelte ember-application q-app mount'.split(
    ' ',
  ),
);
const isAppRoot = (element: Element) =>
  element.name === 'app-root' || ROOT_IDS.has(attribute(element, 'id')?.toLowerCase() ?? '');

const ROOT_CHARACTERS = 60;
/** Maximum number of roots to examine; pages have one or two. */
const MAX_ROOTS = 10;

/** Whether an element contains more than a loading message. Examines no more of it than necessary. */
function hasContent(root: Element): boolean {
  let characters = 0;
  for (let node: Child | null = following(root, root); node; node = following(node, root, isSkipped(node))) {
    if (node.type === TEXT) characters += node.value.trim().length;
    if (characters > ROOT_CHARACTERS) return true;
  }
  return false;
}

const isSkipped = (node: Child) =>
  isElement(node) && (node.name === 'script' || node.name === 'style' || node.name === 'noscript');

const isPlaceholder = (element: Element) =>
  attribute(element, 'aria-busy') === 'true' ||
  /(?:^|[\s_-])(?:skeleton|shimmer|placeholder-glow|ghost-loading|content-loader)/i.test(
    (attribute(element, 'class') ?? '').slice(0, 500),
  );
