/** Looks: what elements have in common that a template made alike, told by their names and classes. */
import { attribute, type Element } from '#html/node.ts';

const LONGEST_CLASS = 200;

/** Numbers the looks of elements. Digits in a class usually number what is otherwise alike (`post-123`). */
export function createLooks(): (element: Element) => number {
  const numbers = new Map<string, number>();
  const known = new Map<string, Map<string, number>>();
  return (element) => {
    const name = attribute(element, 'class') ?? '';
    let ofTag = known.get(element.name);
    if (!ofTag) {
      ofTag = new Map();
      known.set(element.name, ofTag);
    }
    let look = ofTag.get(name);
    if (look === undefined) {
      const spelled = `${element.name}.${name.slice(0, LONGEST_CLASS).replace(/\d+/g, '')}`;
      look = numbers.get(spelled) ?? numbers.size;
      numbers.set(spelled, look);
      ofTag.set(name, look);
    }
    return look;
  };
}
