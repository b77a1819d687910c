/** The handlers of elements, by name. An element without a handler is replaced with its children, inline. */

import { attribute, ELEMENT, type Element } from '#html/node.ts';
import { shortText } from '../page-tools.ts';
import { PLAYER_PLACEHOLDERS } from '../players.ts';
import { type ConversionState, type EnterHandler, SKIP } from '../state.ts';
import { block } from './block.ts';
import { BLOCK_ELEMENTS } from './block-elements.ts';
import { lineBreak } from './break.ts';
import { button } from './button.ts';
import { code, codeLines, pre } from './code.ts';
import { definition, term } from './definition.ts';
import { em, strike, strong } from './emphasis.ts';
import { footnoteOrBlock, isBacklinkContainer, isFootnoteNumber } from './footnote.ts';
import { headings } from './heading.ts';
import { image } from './image.ts';
import { anchor } from './link.ts';
import { bulletList, checkbox, isOwnBullet, item, numberedList } from './list.ts';
import { math, mathjaxGlyphs, mathjaxOutput, renderedMath, script } from './math.ts';
import { media, playerPlaceholder } from './media.ts';
import { blockquote, cite, inlineQuote } from './quote.ts';
import { rubyText } from './ruby.ts';
import { rule } from './rule.ts';
import { skip } from './skip.ts';
import { subscript, superscript } from './sup-sub.ts';
import { caption, cell, row, table } from './table.ts';

const HIDDEN =
  'area base canvas datalist head link meta meter noembed noframes noscript param progress select source style svg ' +
  'template textarea title track';
const MEDIA = ['audio', 'embed', 'iframe', 'video'];

/** The sign of a button that opens what follows its heading. */
const OPENING_SIGN = /^[+\-−–×▾▼▸►›»✕⌄]$/u;
const isOpeningSign = (state: ConversionState, element: Element) =>
  state.heading > 0 &&
  element.parent?.type === ELEMENT &&
  element.parent.name === 'button' &&
  OPENING_SIGN.test(shortText(element));

const span: EnterHandler = (state, element) =>
  isOpeningSign(state, element) ||
  isOwnBullet(element) ||
  (state.openFootnotes > 0 && (isBacklinkContainer(element) || isFootnoteNumber(state, element)))
    ? SKIP
    : renderedMath(state, element);
/** Notion writes code into divisions whose own style makes them look like code. */
function isCodeByStyle(element: Element): boolean {
  const style = attribute(element, 'style') ?? '';
  return /white-space:\s*pre/i.test(style) && /font-family:[^;]*mono/i.test(style);
}
const division: EnterHandler = (state, element) =>
  CODE_DIVISION.test(attribute(element, 'class') ?? '') || isCodeByStyle(element)
    ? codeLines(state, element)
    : (renderedMath(state, element) ?? footnoteOrBlock(state, element));
/** SyntaxHighlighter and Doxygen write code as divisions instead of a pre element. */
const CODE_DIVISION = /(?:^|\s)syntaxhighlighter(?:\s|$)|^fragment$/;

export const ELEMENTS: ReadonlyMap<string, EnterHandler> = new Map<string, EnterHandler>([
  ...[...BLOCK_ELEMENTS].map((name) => [name, block] as const),
  ...HIDDEN.split(' ').map((name) => [name, skip] as const),
  ...MEDIA.map((name) => [name, media] as const),
  ...[...PLAYER_PLACEHOLDERS, 'amp-audio', 'amp-iframe', 'amp-video', 'object'].map(
    (name) => [name, playerPlaceholder] as const,
  ),
  ...headings,
  ['a', anchor],
  ['aside', footnoteOrBlock],
  ['b', strong],
  ['blockquote', blockquote],
  ['br', lineBreak],
  ['button', button],
  ['caption', caption],
  ['cite', cite],
  ['code', code],
  ['dd', definition],
  ['del', strike],
  ['dir', bulletList],
  ['div', division],
  ['dt', term],
  ['em', em],
  ['hr', rule],
  ['i', em],
  ['img', image],
  ['input', checkbox],
  ['kbd', code],
  ['li', item],
  ['listing', pre],
  ['math', math],
  ['menu', bulletList],
  ['mjx-math', mathjaxOutput],
  ['nobr', mathjaxGlyphs],
  ['ol', numberedList],
  ['p', footnoteOrBlock],
  ['plaintext', pre],
  ['pre', pre],
  ['q', inlineQuote],
  ['rt', rubyText],
  ['s', strike],
  ['samp', code],
  ['script', script],
  ['span', span],
  ['strike', strike],
  ['strong', strong],
  ['sub', subscript],
  ['sup', superscript],
  ['table', table],
  ['td', cell],
  ['th', cell],
  ['tr', row],
  ['tt', code],
  ['ul', bulletList],
  ['xmp', pre],
]);
