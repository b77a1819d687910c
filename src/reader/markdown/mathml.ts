/** MathML to LaTeX. */
import { type Element, textOf } from '#html/node.ts';

export const mathmlToLatex = (math: Element): string => textOf(math).replace(/\s+/g, ' ').trim();
