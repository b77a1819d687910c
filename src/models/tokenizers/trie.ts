/** A vocabulary as a trie of UTF-16 units in flat arrays. It finds the longest piece at a position in a single pass. */
export interface Trie {
  /**
   * Returns the id of the longest piece that starts at `from`, and sets `matchedTo` to its end; -1 if there is none.
   * Pieces at the start of a word and continuing pieces are separate.
   */
  longest(units: Uint16Array, from: number, to: number, continuing: boolean): number;
  matchedTo: number;
}

export interface Piece {
  readonly text: string;
  readonly continuing: boolean;
  readonly id: number;
}

export function buildTrie(pieces: readonly Piece[]): Trie {
  // Units that occur in no piece have class 0, which no edge uses.
  const classes = new Uint16Array(65_536);
  let classCount = 1;
  let most = 2;
  for (const { text } of pieces) {
    most += text.length;
    for (let at = 0; at < text.length; at++) {
      const unit = text.charCodeAt(at);
      if (classes[unit] === 0) classes[unit] = classCount++;
    }
  }
  if (most * classCount > 2 ** 31) throw new Error('the vocabulary is too large');

  // Pieces share prefixes, so there are far fewer nodes than characters.
  const bits = Math.ceil(Math.log2(most * 1.2));
  const mask = 2 ** bits - 1;
  const shift = 32 - bits;
  const keys = new Int32Array(mask + 1).fill(-1);
  const nodes = new Int32Array(mask + 1);
  const ids = new Int32Array(most).fill(-1);
  let nodeCount = 2;

  const slotOf = (key: number): number => {
    let slot = Math.imul(key, 0x9e3779b1) >>> shift;
    while (keys[slot] !== -1 && keys[slot] !== key) slot = (slot + 1) & mask;
    return slot;
  };

  for (const { text, continuing, id } of pieces) {
    let node = continuing ? 1 : 0;
    for (let at = 0; at < text.length; at++) {
      const key = node * classCount + classes[text.charCodeAt(at)]!;
      const slot = slotOf(key);
      if (keys[slot] === -1) {
        keys[slot] = key;
        nodes[slot] = nodeCount++;
      }
      node = nodes[slot]!;
    }
    ids[node] = id;
  }

  const trie: Trie = {
    matchedTo: 0,
    longest(units, from, to, continuing) {
      let node = continuing ? 1 : 0;
      let found = -1;
      for (let at = from; at < to; at++) {
        const unitClass = classes[units[at]!]!;
        if (unitClass === 0) break;
        const slot = slotOf(node * classCount + unitClass);
        if (keys[slot] === -1) break;
        node = nodes[slot]!;
        if (ids[node] !== -1) {
          found = ids[node]!;
          trie.matchedTo = at + 1;
        }
      }
      return found;
    },
  };
  return trie;
}
