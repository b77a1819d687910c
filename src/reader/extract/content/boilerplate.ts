/**
 * Finds the frame of a page by landmarks and names alone: navigation, header and footer bars, sidebars, link boxes,
 * notices. Used for pages with too little text to score, and for pages where no block is surely content.
 */
import { attribute } from '#html/node.ts';
import { PARTS, type Part } from '../blocks/class-words.ts';
import { headingLevel } from '../blocks/headings.ts';
import type { Survey } from '../blocks/survey.ts';

const FRAME = new Set(['nav', 'footer', 'aside', 'dialog', 'menu']);
const FRAME_ROLES = new Set([
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
const FRAME_PARTS = maskOf(
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

/** On these elements a name describes a link or a line, not a part of the page. */
const isInLine = (name: string): boolean => name === 'a' || name === 'span' || name === 'p' || headingLevel(name) > 0;

/**
 * For each element of the survey, 1 if it belongs to the frame. `byName` also trusts class names, not only landmarks.
 */
export function findBoilerplate(survey: Survey, byName: boolean): Uint8Array {
  // A page-level header holds links and belongs to the frame; a header inside an article or a section belongs to
  // that.
  const framed = new Uint8Array(survey.elements.length);
  const content = new Uint8Array(survey.elements.length);
  for (let at = 0; at < framed.length; at++) {
    const element = survey.elements[at]!;
    const above = survey.parent[at]!;
    const role = attribute(element, 'role');
    content[at] = isContent(element.name, role) || (above >= 0 && content[above]) ? 1 : 0;
    const named =
      byName && (survey.parts[at]! & FRAME_PARTS) !== 0 && (survey.parts[at]! & CONTENT_PARTS) === 0 && above >= 0;
    framed[at] =
      (above >= 0 && framed[above]) ||
      FRAME.has(element.name) ||
      (role !== null && FRAME_ROLES.has(role)) ||
      (element.name === 'header' && !content[at] && survey.linkWords[at]! * 3 > survey.words[at]!) ||
      (named && !isInLine(element.name))
        ? 1
        : 0;
  }
  return framed;
}

/** Keeps every block outside the frame of the page, or every block if none is outside. */
export function keepOutsideBoilerplate(survey: Survey, framed: Uint8Array): Uint8Array {
  const keep = new Uint8Array(survey.blocks.length);
  let words = 0;
  for (let at = 0; at < keep.length; at++) {
    const { owner } = survey.blocks[at]!;
    if (framed[owner]) continue;
    keep[at] = 1;
    words += survey.blocks[at]!.words;
  }
  return words > 0 ? keep : keep.fill(1);
}

/** Smallest share of links in a frame, and the most words beside the links that its closing notice may have. */
const LINKED = 0.6;
const LONGEST_NOTICE = 40;

/** Whether landmarks mark the whole page as menus and footers. Typical of a page that scripts were meant to fill. */
export function isAllBoilerplate(survey: Survey): boolean {
  if (survey.linkWords[0]! < survey.words[0]! * LINKED) return false;
  if (survey.blocks.some(({ words, linkWords }) => words - linkWords > LONGEST_NOTICE)) return false;
  const framed = findBoilerplate(survey, false);
  return survey.blocks.every(({ owner }) => framed[owner]);
}
