/** Looks: what elements have in common that a template made alike, told by their names and classes. */
import type { Survey } from './survey.ts';

const LONGEST_CLASS = 200;

/** Numbers the looks of a survey's elements. Digits in a class usually number what is otherwise alike (`post-123`). */
export function findLooks({ elements, classes, classTexts }: Survey): Int32Array {
  const looks = new Int32Array(elements.length);
  const numbers = new Map<string, number>();
  const tags = new Map<string, number>();
  /** By the number of the tag and that of the class. */
  const known = new Map<number, number>();
  /** Most classes stand on elements of one name: the name that a class was met on last, and that look. */
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
