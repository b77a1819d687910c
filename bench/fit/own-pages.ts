/** Block labels for our own pages, in which selectors label every word. */
import type { Element, Node } from '#html/node.ts';
import type { Survey } from '#reader/extract/blocks/survey.ts';
import type { Labels } from './labels.ts';

const OUTSIDE = 0;
const INSIDE = 1;
const EXCEPTED = 2;

/** Labels each block by whether most of its characters are inside a marked element. */
export function labelByMarks(survey: Survey, [content, except]: [Set<Element>, Set<Element>], weight: number): Labels {
  const state = new Map<Node, number>();
  for (const [at, element] of survey.elements.entries()) {
    const above = survey.parent[at]! < 0 ? OUTSIDE : state.get(survey.elements[survey.parent[at]!]!)!;
    state.set(element, except.has(element) || above === EXCEPTED ? EXCEPTED : content.has(element) ? INSIDE : above);
  }
  const answer = Float32Array.from(survey.blocks, ({ firstText, endText }) => {
    let balance = 0;
    for (const { value, parent } of survey.texts.slice(firstText, endText)) {
      balance += (state.get(parent!) === INSIDE ? 1 : -1) * value.trim().length;
    }
    return balance > 0 ? 1 : 0;
  });
  const inside = survey.blocks.reduce((sum, { words }, at) => sum + (answer[at] ? words : 0), 0);
  const norm = Math.max(inside, 0.2 * survey.words[0]!, 30);
  return {
    answer,
    weight: Float32Array.from(survey.blocks, ({ words }) => (words > 0 ? (weight * (words + 1.5)) / norm : 0)),
  };
}
