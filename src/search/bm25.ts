/** BM25 (Robertson and Zaragoza 2009), with the parameters of SQLite's FTS5. */

/** How much more occurrences of a word add. */
const K1 = 1.2;
/** How much the length of a text matters. */
const B = 0.75;

/**
 * What a word that occurs `count` times adds to the score, relative to its inverse document frequency: 1 for one
 * occurrence in a text of average length, at most K1 + 1. `relativeLength` is the length divided by the average.
 */
export const saturation = (count: number, relativeLength: number): number =>
  (count * (K1 + 1)) / (count + K1 * (1 - B + B * relativeLength));
