/**
 * Formulas: MathML, and the markup that KaTeX, MathJax and wikis put around it or use in its place. Each formula is
 * written once, from its LaTeX source if the page contains it.
 */
import { attribute, ELEMENT, type Element, following, type Node, TEXT, textOf } from '#html/node.ts';
import { mathmlToLatex, withoutMathStyle } from '../mathml.ts';
import { type ConversionState, type EnterHandler, SKIP } from '../state.ts';
import { findTex } from '../tex-in-text.ts';

export const math: EnterHandler = (state, element) => {
  if (!state.gfm) return null;
  const display = attribute(element, 'display') === 'block' || attribute(element, 'mode') === 'display';
  writeFormula(state, mathmlToLatex(element), display || isDisplayMath(element));
  return SKIP;
};

/** `<script type="math/tex">`; every other script is omitted. */
export const script: EnterHandler = (state, element) => {
  const type = attribute(element, 'type') ?? '';
  if (state.gfm && /^\s*math\/tex\b/i.test(type)) {
    writeFormula(state, tidyLatex(textOf(element)), /mode\s*=\s*display/i.test(type));
  }
  return SKIP;
};

/** Writes an inline formula or, if `display`, a formula in its own block. */
export function writeFormula(state: ConversionState, latex: string, display: boolean): void {
  if (latex === '') return;
  const formula = state.clean(latex);
  const onOwnLine = display && state.singleLine === 0 && !state.inline.isOpen('link');
  if (onOwnLine) state.flush();
  state.inline.formula(formula);
  if (onOwnLine) state.flush();
}

/** Writes text of the page, including formulas that a script would have rendered. */
export function textWithFormulas(state: ConversionState, text: string): void {
  for (const piece of findTex(text) ?? [{ text, formula: null }]) {
    if (piece.formula === null) state.inline.text(state.clean(piece.text));
    else writeFormula(state, tidyLatex(piece.text), piece.formula === 'display');
  }
}

const tidyLatex = (latex: string): string => latex.replace(/\s+/g, ' ').trim();

/** CSS classes of elements that hold the rendered form of a formula next to its source. */
const RENDERED_CLASS =
  /(?:^|\s)(?:katex-html|MathJax(?:_Preview|_Display|_SVG|_SVG_Display|_CHTML)?|MJX_Assistive_MathML)(?:\s|$)/;

/** Handles spans and divs by class; returns null if the class is unrelated to formulas. */
export function renderedMath(state: ConversionState, element: Element): typeof SKIP | null {
  const classes = attribute(element, 'class');
  if (classes === null || !state.gfm || !RENDERED_CLASS.test(classes)) return null;
  if (classes.includes('katex-html')) return hasSibling(element, 'katex-mathml') ? SKIP : null;
  return followedByScript(element) ? SKIP : null;
}

function hasSibling(element: Element, className: string): boolean {
  const before = element.prev;
  return before?.type === ELEMENT && (attribute(before, 'class') ?? '').includes(className);
}

const MAX_SIBLINGS = 4;

/** Whether one of the next few siblings is the source of a formula that MathJax rendered. */
function followedByScript(element: Element): boolean {
  let node = element.next;
  for (let count = 0; node && count < MAX_SIBLINGS; node = node.next, count++) {
    if (node.type === ELEMENT && node.name === 'script') return /^\s*math\//.test(attribute(node, 'type') ?? '');
  }
  const { parent } = element;
  if (parent?.type !== ELEMENT || !RENDERED_CLASS.test(attribute(parent, 'class') ?? '')) return false;
  return followedByScript(parent);
}

/** Omits `mjx-math` if there is assistive MathML next to it. */
export const mathjaxOutput: EnterHandler = (_, element) => {
  for (let node = element.next; node; node = node.next) {
    if (node.type === ELEMENT && node.name === 'mjx-assistive-mml') return SKIP;
  }
  return null;
};

/** The glyphs in MathJax's own span, next to the MathML for screen readers. */
export const mathjaxGlyphs: EnterHandler = (state, element) => {
  const { parent } = element;
  const isDrawn = parent?.type === ELEMENT && RENDERED_CLASS.test(attribute(parent, 'class') ?? '');
  return state.gfm && isDrawn && attribute(element, 'aria-hidden') === 'true' ? SKIP : null;
};

const DISPLAY =
  /(?:^|\s)(?:katex-display|MathJax_Display|mwe-math-mathml-display|mwe-math-fallback-image-display|math-display)(?:\s|$)/;
const LEVELS_UP = 5;

/** Whether a formula, or its replacement, is displayed on its own lines. */
export function isDisplayMath(element: Element): boolean {
  let node: Node | null = element;
  for (let level = 0; node?.type === ELEMENT && level < LEVELS_UP; level++, node = node.parent) {
    if (node.name === 'mjx-container') return attribute(node, 'display') === 'true';
    if (DISPLAY.test(attribute(node, 'class') ?? '')) return true;
  }
  return false;
}

const PICTURE = /(?:^|\s)(?:latex|tex)(?:\s|$)/;
const WIKI_FALLBACK = /(?:^|\s)mwe-math-fallback-image(?:-inline|-display)?(?:\s|$)/;

/**
 * The LaTeX of an image that replaces a formula; '' if the formula itself is next to the image; null for other images.
 */
export function formulaOfImage(image: Element): string | null {
  const classes = attribute(image, 'class') ?? '';
  const isFallback = WIKI_FALLBACK.test(classes);
  if (!isFallback && !PICTURE.test(classes)) return null;
  const alt = tidyLatex(attribute(image, 'alt') ?? '');
  if (alt === '') return null;
  return isFallback && image.prev?.type === ELEMENT && holdsMath(image.prev) ? '' : withoutMathStyle(alt);
}

function holdsMath(element: Element): boolean {
  for (let node: Node | null = element; node; node = following(node, element)) {
    if (node.type === ELEMENT && node.name === 'math') return true;
    if (node.type === TEXT && node.value.trim() !== '') return false;
  }
  return false;
}
