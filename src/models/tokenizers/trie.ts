/**
 * A vocabulary as a trie of UTF-16 units. Its edges are in one hash table in flat arrays; a node is the slot of the edge
 * that leads to it.
 */
export interface Trie {
  /** The node of the empty piece. */
  readonly root: number;
  /** Returns the node that a unit leads to; -1 if there is none. */
  child(node: number, unit: number): number;
  /** Returns the id of the piece that ends at the node; -1 if there is none. */
  idAt(node: number): number;
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
  let most = 2;
  for (const { text } of pieces) most += text.length;
  // Pieces share prefixes, so there are far fewer edges than characters.
  const bits = Math.ceil(Math.log2(most * 1.2));
  const mask = 2 ** bits - 1;
  const shift = 32 - bits;
  // The two roots are the target of no edge, so they have numbers beyond the slots.
  const root = mask + 1;
  const continuingRoot = mask + 2;
  const parents = new Int32Array(mask + 1).fill(-1);
  const units = new Uint16Array(mask + 1);
  const ids = new Int32Array(mask + 3).fill(-1);

  /** The slot of an edge, or the free slot where it would be. */
  const slotOf = (node: number, unit: number): number => {
    let slot = Math.imul(Math.imul(node, 0x85ebca6b) ^ unit, 0x9e3779b1) >>> shift;
    while (parents[slot] !== -1 && (parents[slot] !== node || units[slot] !== unit)) slot = (slot + 1) & mask;
    return slot;
  };

  for (const { text, continuing, id } of pieces) {
    let node = continuing ? continuingRoot : root;
    for (let at = 0; at < text.length; at++) {
      const unit = text.charCodeAt(at);
      const slot = slotOf(node, unit);
      parents[slot] = node;
      units[slot] = unit;
      node = slot;
    }
    ids[node] = id;
  }

  const child = (node: number, unit: number): number => {
    const slot = slotOf(node, unit);
    return parents[slot] === -1 ? -1 : slot;
  };
  const trie: Trie = {
    root,
    child,
    idAt: (node) => ids[node]!,
    matchedTo: 0,
    longest(text, from, to, continuing) {
      let node = continuing ? continuingRoot : root;
      let found = -1;
      for (let at = from; at < to; at++) {
        node = child(node, text[at]!);
        if (node < 0) break;
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
