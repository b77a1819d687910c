/**
 * Finds the boilerplate of a page by landmarks and names alone: navigation, header and footer bars, sidebars, link boxes,
 * notices. Used for pages with too little text to score, and for pages where no block is clearly content.
 */
import { attribute } from '#html/node.ts';
import { PARTS, type Part } from '../blocks/class-words.ts';
import { headingLevel } from '../blocks/headings.ts';
import type { Survey } from '../blocks/survey.ts';

const BOILERPLATE_ELEMENTS = new Set(['nav', 'footer', 'aside', 'dialog', 'menu']);
const BOILERPLATE_ROLES = new Set([
  'navigation',
  'contentinfo',
  'complementary',
  'banner',
  'search',
  'dialog',
  'menu',
  'menubar',
  'alertdialog',
  'toolbar',
  'note',
]);

const maskOf = (...parts: Part[]) => parts.reduce((mask, part) => mask | (1 << PARTS.indexOf(part)), 0);
const BOILERPLATE_PARTS = maskOf(
  'nav',
  'footer',
  'aside',
  'share',
  'related',
  'advert',
  'consent',
  'signup',
  'popup',
  'pager',
);
const CONTENT_PARTS = maskOf('content', 'post', 'thread');

const isContent = (name: string, role: string | null): boolean =>
  name === 'main' || name === 'article' || name === 'section' || role === 'main';

/** The class names of these elements describe a link or a line, not a part of the page. */
const isInlineText = (name: string): boolean =>
  name === 'a' || name === 'span' || name === 'p' || headingLevel(name) > 0;

/**
 * For each element of the survey, 1 if it is boilerplate. `byName` also trusts class names, not only landmarks.
 */
export function findBoilerplate(survey: Survey, byName: boolean): Uint8Array {
  // A page-level header of links is boilerplate; a header inside an article or a section belongs to the article or
  // section.
  const boilerplate = new Uint8Array(survey.elements.length);
  const content = new Uint8Array(survey.elements.length);
  for (let at = 0; at < boilerplate.length; at++) {
    const element = survey.elements[at]!;
    const above = survey.parent[at]!;
    const role = attribute(element, 'role');
    content[at] = isContent(element.name, role) || (above >= 0 && content[above]) ? 1 : 0;
    const isNamedBoilerplate =
      byName &&
      (survey.parts[at]! & BOILERPLATE_PARTS) !== 0 &&
      (survey.parts[at]! & CONTENT_PARTS) === 0 &&
      above >= 0;
    boilerplate[at] =
      (above >= 0 && boilerplate[above]) ||
      BOILERPLATE_ELEMENTS.has(element.name) ||
      (role !== null && BOILERPLATE_ROLES.has(role)) ||
      (element.name === 'header' && !content[at] && survey.linkWords[at]! * 3 > survey.words[at]!) ||
      (isNamedBoilerplate && !isInlineText(element.name))
        ? 1
        : 0;
  }
  return boilerplate;
}

/** Keeps every block that is not boilerplate, or every block if all are. */
export function keepOutsideBoilerplate(survey: Survey, boilerplate: Uint8Array): Uint8Array {
  const keep = new Uint8Array(survey.blocks.length);
  let words = 0;
  for (let at = 0; at < keep.length; at++) {
    const { owner } = survey.blocks[at]!;
    if (boilerplate[owner]) continue;
    keep[at] = 1;
    words += survey.blocks[at]!.words;
  }
  return words > 0 ? keep : keep.fill(1);
}

/** Minimum share of links in a page of boilerplate, and maximum number of words outside links in its closing notice. */
const MIN_LINK_SHARE = 0.6;
const MAX_NOTICE_WORDS = 40;

/**
 * Whether landmarks mark the whole page as menus and footers. This is typical of a page that its scripts were meant to
 * fill.
 */
export function isAllBoilerplate(survey: Survey): boolean {
  if (survey.linkWords[0]! < survey.words[0]! * MIN_LINK_SHARE) return false;
  if (survey.blocks.some(({ words, linkWords }) => words - linkWords > MAX_NOTICE_WORDS)) return false;
  const boilerplate = findBoilerplate(survey, false);
  return survey.blocks.every(({ owner }) => boilerplate[owner]);
}
