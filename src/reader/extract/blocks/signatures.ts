/** Signatures: elements with the same tag name and class probably come from the same template. */
import type { Survey } from './survey.ts';

const MAX_CLASS_CHARACTERS = 200;

/**
 * Assigns a number to each signature of a survey's elements. Digits in a class are ignored, because they usually number
 * similar elements (`post-123`).
 */
export function findSignatures({ elements, classes, classTexts }: Survey): Int32Array {
  const signatures = new Int32Array(elements.length);
  const numbers = new Map<string, number>();
  const tags = new Map<string, number>();
  /** Signatures by tag number and class number. */
  const numberByPair = new Map<number, number>();
  /**
   * For each class, the tag name of the last element that had it, and its signature. Most classes appear on only one
   * kind of tag.
   */
  const lastName: string[] = new Array(classTexts.length).fill('');
  const lastSignature = new Int32Array(classTexts.length);
  for (let at = 0; at < signatures.length; at++) {
    const { name } = elements[at]!;
    const own = classes[at]!;
    if (lastName[own] === name) {
      signatures[at] = lastSignature[own]!;
      continue;
    }
    let tag = tags.get(name);
    if (tag === undefined) {
      tag = tags.size;
      tags.set(name, tag);
    }
    const key = tag * classTexts.length + own;
    let signature = numberByPair.get(key);
    if (signature === undefined) {
      const text = `${name}.${classTexts[own]!.slice(0, MAX_CLASS_CHARACTERS).replace(/\d+/g, '')}`;
      signature = numbers.get(text) ?? numbers.size;
      numbers.set(text, signature);
      numberByPair.set(key, signature);
    }
    signatures[at] = signature;
    lastName[own] = name;
    lastSignature[own] = signature;
  }
  return signatures;
}

/** Creates a function that assigns consecutive numbers to keys, in the order of first use. */
function createNumbers(): (key: number) => number {
  const known = new Map<number, number>();
  return (key) => {
    let number = known.get(key);
    if (number === undefined) {
      number = known.size;
      known.set(key, number);
    }
    return number;
  };
}

/**
 * For each block, the number of its template: the signatures of its element and of the element's two nearest ancestors.
 */
export function findTemplates({ blocks, parent }: Survey, signatures: Int32Array): Int32Array {
  const base = signatures.length + 1;
  const aroundOf = createNumbers();
  const templateOf = createNumbers();
  const found = new Int32Array(blocks.length);
  for (let at = 0; at < found.length; at++) {
    const { owner } = blocks[at]!;
    const above = parent[owner]!;
    const further = above < 0 ? -1 : parent[above]!;
    const pair = (above < 0 ? 0 : signatures[above]! + 1) * base + (further < 0 ? 0 : signatures[further]! + 1);
    found[at] = templateOf(aroundOf(pair) * base + signatures[owner]!);
  }
  return found;
}
