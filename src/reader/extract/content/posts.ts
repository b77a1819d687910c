/**
 * Keeps the posts of a thread together. The trees judge each post for itself, and some threads look like an article with
 * comments to them.
 */
import { findSignatures } from '../blocks/signatures.ts';
import type { Survey } from '../blocks/survey.ts';
import { FITTED_KINDS } from '../trees/page-features.ts';
import type { Choice } from './choose-blocks.ts';

const FORUM = FITTED_KINDS.indexOf('forum');
const MIN_THREAD_PROBABILITY = 0.7;
/** Minimum number of blocks, and minimum mean number of words, of blocks that are posts. */
const MIN_POSTS = 3;
const MIN_MEAN_WORDS = 15;
/** Minimum shares of chosen words: of the words of the posts, and of posts among all chosen words. */
const MIN_CHOSEN_SHARE = 0.35;
const MIN_POST_SHARE = 0.4;
/** Blocks with a lower probability are omitted even if they have the structure of posts. */
const MIN_PROBABILITY = 0.05;

/** The blocks whose elements, and two levels above them, have the same names and classes. */
interface Structure {
  count: number;
  words: number;
  chosen: number;
}

/** Changes `keep` in place. */
export function keepPosts(survey: Survey, keep: Uint8Array, { kinds, probabilities }: Choice): void {
  if (kinds[FORUM]! < MIN_THREAD_PROBABILITY) return;
  const { blocks, parent } = survey;
  const signatures = findSignatures(survey);
  const signatureAbove = (at: number): number => (at < 0 ? -1 : signatures[at]!);
  const aboveOf = (at: number): number => (at < 0 ? -1 : parent[at]!);
  const structureOf = (at: number): string => {
    const { owner } = blocks[at]!;
    const above = parent[owner]!;
    return `${signatures[owner]} ${signatureAbove(above)} ${signatureAbove(aboveOf(above))}`;
  };
  const structures = new Map<string, Structure>();
  let chosen = 0;
  for (let at = 0; at < blocks.length; at++) {
    const key = structureOf(at);
    const sums = structures.get(key) ?? { count: 0, words: 0, chosen: 0 };
    structures.set(key, sums);
    const { words } = blocks[at]!;
    sums.count += 1;
    sums.words += words;
    if (!keep[at]) continue;
    sums.chosen += words;
    chosen += words;
  }
  const isPost = ({ count, words, chosen: own }: Structure) =>
    count >= MIN_POSTS &&
    words >= MIN_MEAN_WORDS * count &&
    own < words &&
    own >= words * MIN_CHOSEN_SHARE &&
    own >= chosen * MIN_POST_SHARE;
  for (let at = 0; at < blocks.length; at++) {
    if (keep[at] || probabilities[at]! < MIN_PROBABILITY) continue;
    if (isPost(structures.get(structureOf(at))!)) keep[at] = 1;
  }
}
