/** Looks: elements with the same tag name and class probably come from the same template. */
import type { Survey } from './survey.ts';

const LONGEST_CLASS = 200;

/**
 * Numbers the looks of a survey's elements. Digits in a class are ignored, since they usually number similar elements
 * (`post-123`).
 */
export function findSignatures({ elements, classes, classTexts }: Survey): Int32Array {
  const looks = new Int32Array(elements.length);
  const numbers = new Map<string, number>();
  const tags = new Map<string, number>();
  /** By the number of the tag and that of the class. */
  const known = new Map<number, number>();
  /** Most classes appear on elements of one name: the last name that a class was met on, and that look. */
  const lastName: string[] = new Array(classTexts.length).fill('');
  const lastLook = new Int32Array(classTexts.length);
  for (let at = 0; at < looks.length; at++) {
    const { name } = elements[at]!;
    const own = classes[at]!;
    if (lastName[own] === name) {
      looks[at] = lastLook[own]!;
      continue;
    }
    let tag = tags.get(name);
    if (tag === undefined) {
      tag = tags.size;
      tags.set(name, tag);
    }
    const key = tag * classTexts.length + own;
    let look = known.get(key);
    if (look === undefined) {
      const spelled = `${name}.${classTexts[own]!.slice(0, LONGEST_CLASS).replace(/\d+/g, '')}`;
      look = numbers.get(spelled) ?? numbers.size;
      numbers.set(spelled, look);
      known.set(key, look);
    }
    looks[at] = look;
    lastName[own] = name;
    lastLook[own] = look;
  }
  return looks;
}
