/** Class attributes in the naming styles of different sites, so that no family depends on one of them. */

export const STYLES = ['semantic', 'none', 'bem', 'utility', 'hashed'] as const;
export type Style = (typeof STYLES)[number];

/** Returns the class attribute of an element of a component, with a leading space; empty for pages without classes. */
export type ClassNames = (block: string, element?: string) => string;

const UTILITIES = [
  'flex flex-col gap-4',
  'mt-6 text-base leading-7',
  'grid grid-cols-2 gap-x-8',
  'px-4 py-2 text-sm',
  'rounded-lg border p-6',
  'font-medium text-slate-900',
  'relative overflow-x-auto',
  'max-w-prose mx-auto',
];

/** A small stable number of a word, used instead of a random one. */
function numberOf(word: string): number {
  let number = 7;
  for (const letter of word) number = (number * 31 + letter.charCodeAt(0)) % 1_000_003;
  return number;
}

const capitalized = (word: string) => word.charAt(0).toUpperCase() + word.slice(1);

const CLASSES: Record<Style, (block: string, element: string | undefined) => string> = {
  semantic: (block, element) => (element ? `${block}-${element}` : block),
  bem: (block, element) => (element ? `c-${block}__${element}` : `c-${block}`),
  utility: (block, element) => UTILITIES[numberOf(block + element) % UTILITIES.length]!,
  hashed: (block, element = 'root') =>
    `${capitalized(block)}_${element}__${numberOf(block + element)
      .toString(36)
      .padStart(5, 'q')}`,
  none: () => '',
};

export function classNames(style: Style): ClassNames {
  return (block, element) => {
    const name = CLASSES[style](block, element);
    return name && ` class="${name}"`;
  };
}
