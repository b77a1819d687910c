/** Slides: pictures with captions that a page shows one at a time. All but one may be hidden. */
import { ELEMENT, type Element, find, type Parent } from '#html/node.ts';

const LEAST_SLIDES = 3;

/** Returns a test for elements with similar siblings that all contain pictures. Each parent is examined once. */
export function createSlideDetector(): (element: Element) => boolean {
  const counts = new Map<Parent, Map<string, number>>();
  return (element) => {
    const { parent } = element;
    const kind = kindOf(element);
    if (!parent || kind === null) return false;
    let known = counts.get(parent);
    if (!known) {
      known = countKinds(parent);
      counts.set(parent, known);
    }
    return (known.get(kind) ?? 0) >= LEAST_SLIDES && find(element, 'img') !== null;
  };
}

function countKinds(parent: Parent): Map<string, number> {
  const counts = new Map<string, number>();
  for (let node = parent.first; node; node = node.next) {
    const kind = node.type === ELEMENT ? kindOf(node) : null;
    if (kind !== null && find(node, 'img')) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  }
  return counts;
}

/** The element's name and first class; null without a class. */
function kindOf({ name, attributes }: Element): string | null {
  const names = attributes.find((entry) => entry.name === 'class')?.value.trim();
  return names ? `${name}.${names.split(/\s+/)[0]}` : null;
}
