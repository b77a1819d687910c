/**
 * Stores the sign bits of all vectors in memory, and finds the vectors whose signs agree most with those of a query.
 * 256 dimensions use 32 bytes, and a hundred thousand vectors are compared in a few milliseconds.
 */
import { setSignBitsOfCode, signBits } from './quantize.ts';

export interface Shortlist {
  readonly size: number;
  add(id: number, code: Uint8Array, owner: string): void;
  remove(id: number): void;
  clear(): void;
  /** Returns the ids whose signs agree most with those of the vector, best first. */
  nearest(vector: Float32Array, limit: number, filter?: CandidateFilter): number[];
}

export interface CandidateFilter {
  /** If set, only these ids are considered. */
  readonly among?: readonly number[] | undefined;
  /** If set, only ids of these owners are considered. */
  readonly owners?: readonly string[] | undefined;
}

export function createShortlist(dimensions: number): Shortlist {
  const words = Math.ceil(dimensions / 32);
  let bits = new Uint32Array(1_024 * words);
  let ids = new Float64Array(1_024);
  let size = 0;
  const positions = new Map<number, number>();
  /** Owners are replaced by numbers, because there are few owners and many ids. */
  const numbers = new Map<string, number>();
  let ownersAt = new Uint32Array(1_024);

  const grow = () => {
    const widerBits = new Uint32Array(bits.length * 2);
    widerBits.set(bits);
    bits = widerBits;
    const widerIds = new Float64Array(ids.length * 2);
    widerIds.set(ids);
    ids = widerIds;
    const widerOwners = new Uint32Array(ownersAt.length * 2);
    widerOwners.set(ownersAt);
    ownersAt = widerOwners;
  };

  const numberOf = (owner: string): number => {
    const number = numbers.get(owner) ?? numbers.size;
    numbers.set(owner, number);
    return number;
  };

  /** Returns 1 for the number of each allowed owner; `undefined` if all are allowed. */
  const allowedNumbers = (owners: readonly string[] | undefined): Uint8Array | undefined => {
    if (!owners) return undefined;
    const known = owners.flatMap((owner) => numbers.get(owner) ?? []);
    if (new Set(known).size === numbers.size) return undefined;
    const allowed = new Uint8Array(numbers.size);
    for (const number of known) allowed[number] = 1;
    return allowed;
  };

  /** Writes the positions of the candidates into `compared`; returns their number. */
  const writePositions = (compared: Uint32Array, { among, owners }: CandidateFilter): number => {
    let count = 0;
    if (among) {
      for (const id of among) {
        const position = positions.get(id);
        if (position !== undefined) compared[count++] = position;
      }
      return count;
    }
    const allowed = allowedNumbers(owners);
    for (let position = 0; position < size; position++) {
      if (!allowed || allowed[ownersAt[position]!] === 1) compared[count++] = position;
    }
    return count;
  };

  const distanceAt = (position: number, query: Uint32Array): number => {
    let distance = 0;
    const from = position * words;
    for (let word = 0; word < words; word++) {
      // The number of differing bits, counted in parallel within the word.
      let differing = bits[from + word]! ^ query[word]!;
      differing -= (differing >>> 1) & 0x55555555;
      differing = (differing & 0x33333333) + ((differing >>> 2) & 0x33333333);
      distance += (((differing + (differing >>> 4)) & 0x0f0f0f0f) * 0x01010101) >>> 24;
    }
    return distance;
  };

  return {
    get size() {
      return size;
    },
    add(id, code, owner) {
      let position = positions.get(id);
      if (position === undefined) {
        if (size === ids.length) grow();
        position = size;
        size += 1;
        positions.set(id, position);
        ids[position] = id;
      }
      ownersAt[position] = numberOf(owner);
      bits.fill(0, position * words, (position + 1) * words);
      setSignBitsOfCode(bits, position * words, code);
    },
    remove(id) {
      const position = positions.get(id);
      if (position === undefined) return;
      // The last vector is moved to the removed vector's position.
      size -= 1;
      positions.delete(id);
      if (position === size) return;
      bits.copyWithin(position * words, size * words, (size + 1) * words);
      ids[position] = ids[size]!;
      ownersAt[position] = ownersAt[size]!;
      positions.set(ids[position]!, position);
    },
    clear() {
      size = 0;
      positions.clear();
      numbers.clear();
    },
    nearest(vector, limit, filter = {}) {
      const query = new Uint32Array(words);
      signBits(query, 0, dimensions, (at) => vector[at]!);
      const compared = new Uint32Array(filter.among?.length ?? size);
      const count = writePositions(compared, filter);
      const distances = new Uint16Array(count);
      // Distances are small integers, so a counting sort finds the threshold for the best ones without sorting all
      // distances.
      const counts = new Uint32Array(words * 32 + 1);
      for (let at = 0; at < count; at++) {
        const distance = distanceAt(compared[at]!, query);
        distances[at] = distance;
        counts[distance]! += 1;
      }
      let bound = 0;
      for (let sum = counts[0]!; sum < limit && bound + 1 < counts.length; sum += counts[bound]!) bound += 1;
      const found: { id: number; distance: number }[] = [];
      for (let at = 0; at < count; at++) {
        if (distances[at]! <= bound) found.push({ id: ids[compared[at]!]!, distance: distances[at]! });
      }
      return found
        .sort((a, b) => a.distance - b.distance || a.id - b.id)
        .slice(0, limit)
        .map(({ id }) => id);
    },
  };
}
