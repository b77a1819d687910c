/**
 * Finds the boilerplate of a page by landmarks and names alone: navigation, header and footer bars, sidebars, link
 * boxes, notices. Used for pages with too little text to score, and for pages on which no block is clearly content.
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
const NAV = maskOf('nav');
/** Parts that an aside with text of its own is not: it is a callout inside an article. */
const ASIDE_PARTS = BOILERPLATE_PARTS & ~maskOf('aside');
/** Maximum share of words in links of a callout. */
const MAX_CALLOUT_LINK_SHARE = 0.3;

const isContent = (name: string, role: string | null): boolean =>
  name === 'main' || name === 'article' || name === 'section' || role === 'main';

/** Class names of these elements describe a link or a line, not a part of the page. */
const isInlineText = (name: string): boolean =>
  name === 'a' || name === 'span' || name === 'p' || headingLevel(name) > 0;

/**
 * For each element of the survey, 1 if it is boilerplate. With `byName`, class names are trusted too, not only
 * landmarks.
 */
export function findBoilerplate(survey: Survey, byName: boolean): Uint8Array {
  // A page-level header of links is boilerplate; a header inside an article or a section belongs to the article or
  // section.
  const boilerplate = new Uint8Array(survey.elements.length);
  const content = contentParents(survey);
  for (let at = 0; at < boilerplate.length; at++) {
    const element = survey.elements[at]!;
    const above = survey.parent[at]!;
    const role = attribute(element, 'role');
    if (isContent(element.name, role) || (above >= 0 && content[above] === INSIDE_CONTENT))
      content[at] = INSIDE_CONTENT;
    const isText = isPartOfText(survey, at, content);
    boilerplate[at] =
      (above >= 0 && boilerplate[above]) ||
      (!isText && BOILERPLATE_ELEMENTS.has(element.name)) ||
      (!isText && role !== null && BOILERPLATE_ROLES.has(role)) ||
      (element.name === 'header' && content[at] !== INSIDE_CONTENT && survey.linkWords[at]! * 3 > survey.words[at]!) ||
      (!isText && byName && above >= 0 && hasBoilerplateName(survey, at))
        ? 1
        : 0;
  }
  return boilerplate;
}

const TITLED = 1;
const INSIDE_CONTENT = 2;

/** Marks the parents of h1 headings as TITLED: what follows the title there is content. */
function contentParents({ elements, parent }: Survey): Uint8Array {
  const content = new Uint8Array(elements.length);
  for (let at = 1; at < content.length; at++) if (elements[at]!.name === 'h1') content[parent[at]!] = TITLED;
  return content;
}

function hasBoilerplateName(survey: Survey, at: number): boolean {
  const { name } = survey.elements[at]!;
  const parts = survey.parts[at]! & BOILERPLATE_PARTS;
  // The names of embedded posts (`twitter-tweet`) look like those of share buttons.
  if (parts === 0 || (survey.parts[at]! & CONTENT_PARTS) !== 0 || isInlineText(name) || name === 'blockquote') {
    return false;
  }
  // `tabs` and `menu` also name groups of panels and the dishes of a restaurant, which are not links.
  return parts !== NAV || survey.linkWords[at]! * 2 >= survey.words[at]!;
}

/** Whether a landmark belongs to the text around it: the source of a quotation, or a callout inside an article. */
function isPartOfText(survey: Survey, at: number, content: Uint8Array): boolean {
  const above = survey.parent[at]!;
  if (above < 0) return false;
  const element = survey.elements[at]!;
  if (element.name === 'footer') return survey.elements[above]!.name === 'blockquote';
  return (
    (element.name === 'aside' || attribute(element, 'role') === 'note') &&
    content[above]! > 0 &&
    (survey.parts[at]! & ASIDE_PARTS) === 0 &&
    survey.linkWords[at]! <= survey.words[at]! * MAX_CALLOUT_LINK_SHARE
  );
}

/** Keeps every block that is not boilerplate; if all blocks are boilerplate, keeps all of them. */
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

/**
 * Minimum share of words in links on a page of boilerplate, and maximum number of words outside links in its closing
 * notice.
 */
const MIN_LINK_SHARE = 0.6;
const MAX_NOTICE_WORDS = 40;

/**
 * Whether landmarks mark the whole page as menus and footers, as is typical of a page that depends on its scripts for
 * content.
 */
export function isAllBoilerplate(survey: Survey): boolean {
  if (survey.linkWords[0]! < survey.words[0]! * MIN_LINK_SHARE) return false;
  if (survey.blocks.some(({ words, linkWords }) => words - linkWords > MAX_NOTICE_WORDS)) return false;
  const boilerplate = findBoilerplate(survey, false);
  return survey.blocks.every(({ owner }) => boilerplate[owner]);
}
