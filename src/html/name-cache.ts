/**
 * Reads tag and attribute names from the source in lower case. Names are cached, so that a repeated name costs no
 * allocation and comparing names compares pointers. The table has a fixed number of slots, and a new name replaces the
 * old one in its slot, so no page can make the table grow.
 */

const SLOTS = 8192;
/** Longer names are rare and not cached. */
const MAX_CACHED_CHARACTERS = 32;
const NUL = 0;
const UPPER_A = 65;
const UPPER_Z = 90;

export interface NameCache {
  /**
   * The name at `[start, end)` of `source` in ASCII lower case, with U+FFFD for NUL. `hash` is folded over its
   * lower-cased code units: `hash * 31 + unit`, truncated to 32 bits, from 0.
   */
  read(source: string, start: number, end: number, hash: number): string;
}

export function createNameCache(): NameCache {
  const slots: (string | undefined)[] = new Array(SLOTS).fill(undefined);
  return {
    read(source, start, end, hash) {
      const slot = (hash ^ (hash >>> 11)) & (SLOTS - 1);
      const known = slots[slot];
      if (known !== undefined && isSame(known, source, start, end)) return known;
      if (end - start > MAX_CACHED_CHARACTERS) return lowered(source.slice(start, end));
      const name = copyLowered(source, start, end);
      slots[slot] = name;
      return name;
    },
  };
}

/** A code unit with ASCII upper case lowered. */
export const lowerAsciiUnit = (unit: number): number => (unit >= UPPER_A && unit <= UPPER_Z ? unit + 32 : unit);

function isSame(known: string, source: string, start: number, end: number): boolean {
  if (known.length !== end - start) return false;
  for (let i = start, k = 0; i < end; i++, k++) {
    if (lowerAsciiUnit(source.charCodeAt(i)) !== known.charCodeAt(k)) return false;
  }
  return true;
}

/** Builds the name from its code units, because a slice would retain the whole page in memory. */
function copyLowered(source: string, start: number, end: number): string {
  const units: number[] = [];
  for (let i = start; i < end; i++) {
    const unit = source.charCodeAt(i);
    units.push(unit === NUL ? 0xfffd : lowerAsciiUnit(unit));
  }
  return interned(String.fromCharCode(...units));
}

/** The engine's interned copy of a string, as used for property keys: comparing it with a literal compares pointers. */
const interned = (name: string): string => Object.keys({ [name]: 0 })[0]!;

// toLowerCase alone would change non-ASCII letters, which the standard leaves unchanged.
const lowered = (name: string): string =>
  name.replace(/[A-Z]+/g, (letters) => letters.toLowerCase()).replaceAll('\0', '\ufffd');
