/** The handlers of elements by name. An element without a handler is replaced with its children, inline. */

import { STAND_IN_NAMES } from '../players.ts';
import { type Enter, SKIP } from '../state.ts';
import { block } from './block.ts';
import { lineBreak } from './break.ts';
import { code, pre } from './code.ts';
import { definition, term } from './definition.ts';
import { em, strike, strong } from './emphasis.ts';
import { isBacklinkBox, isNoteNumber, noteOrBlock } from './footnote.ts';
import { headings } from './heading.ts';
import { image } from './image.ts';
import { anchor } from './link.ts';
import { bullets, input, item, numbers } from './list.ts';
import { drawnByMathjax, glyphs, math, renderedMath, script } from './math.ts';
import { media, standIn } from './media.ts';
import { BLOCK_NAMES } from './names.ts';
import { blockquote, inlineQuote } from './quote.ts';
import { subscript, superscript } from './raised.ts';
import { reading } from './ruby.ts';
import { rule } from './rule.ts';
import { skip } from './skip.ts';
import { caption, cell, row, table } from './table.ts';

const HIDDEN =
  'area base canvas datalist head link meta meter noembed noframes noscript param progress select source style svg ' +
  'template textarea title track';
const MEDIA = ['audio', 'embed', 'iframe', 'video'];

const span: Enter = (state, element) =>
  state.openNotes > 0 && (isBacklinkBox(element) || isNoteNumber(state, element)) ? SKIP : renderedMath(state, element);
const division: Enter = (state, element) => renderedMath(state, element) ?? noteOrBlock(state, element);

export const ELEMENTS: ReadonlyMap<string, Enter> = new Map<string, Enter>([
  ...[...BLOCK_NAMES].map((name) => [name, block] as const),
  ...HIDDEN.split(' ').map((name) => [name, skip] as const),
  ...MEDIA.map((name) => [name, media] as const),
  ...[...STAND_IN_NAMES, 'amp-audio', 'amp-iframe', 'amp-video', 'object'].map((name) => [name, standIn] as const),
  ...headings,
  ['a', anchor],
  ['aside', noteOrBlock],
  ['b', strong],
  ['blockquote', blockquote],
  ['br', lineBreak],
  ['caption', caption],
  ['code', code],
  ['dd', definition],
  ['del', strike],
  ['dir', bullets],
  ['div', division],
  ['dt', term],
  ['em', em],
  ['hr', rule],
  ['i', em],
  ['img', image],
  ['input', input],
  ['kbd', code],
  ['li', item],
  ['listing', pre],
  ['math', math],
  ['menu', bullets],
  ['mjx-math', drawnByMathjax],
  ['nobr', glyphs],
  ['ol', numbers],
  ['p', noteOrBlock],
  ['plaintext', pre],
  ['pre', pre],
  ['q', inlineQuote],
  ['rt', reading],
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
  ['ul', bullets],
  ['xmp', pre],
]);
