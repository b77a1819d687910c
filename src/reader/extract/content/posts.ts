/**
 * Keeps the posts of a thread together. The trees judge each post for itself, and some threads look like an article with
 * comments to them.
 */
import { findTemplates } from '../blocks/signatures.ts';
import type { Survey } from '../blocks/survey.ts';
import { probabilityOfKind } from '../trees/page-features.ts';
import type { Choice } from './choose-blocks.ts';

const MIN_THREAD_PROBABILITY = 0.7;
/** Minimum number of blocks, and minimum mean number of words, of blocks that are posts. */
const MIN_POSTS = 3;
const MIN_MEAN_WORDS = 15;
/** Minimum shares of chosen words: of the words of the posts, and of posts among all chosen words. */
const MIN_CHOSEN_SHARE = 0.35;
const MIN_POST_SHARE = 0.4;
/** Blocks with a lower probability are omitted even if they have the template of posts. */
const MIN_PROBABILITY = 0.05;

/** The blocks of one template. */
interface Totals {
  count: number;
  words: number;
  chosen: number;
}

/** Changes `keep` in place. */
export function keepPosts(survey: Survey, keep: Uint8Array, { kinds, signatures, probabilities }: Choice): void {
  if (probabilityOfKind(kinds, 'forum') < MIN_THREAD_PROBABILITY) return;
  const { blocks } = survey;
  const templates = findTemplates(survey, signatures);
  const totals: Totals[] = [];
  let chosen = 0;
  for (let at = 0; at < blocks.length; at++) {
    totals[templates[at]!] ??= { count: 0, words: 0, chosen: 0 };
    const own = totals[templates[at]!]!;
    const { words } = blocks[at]!;
    own.count += 1;
    own.words += words;
    if (!keep[at]) continue;
    own.chosen += words;
    chosen += words;
  }
  const isPost = (own: Totals) =>
    own.count >= MIN_POSTS &&
    own.words >= MIN_MEAN_WORDS * own.count &&
    own.chosen >= own.words * MIN_CHOSEN_SHARE &&
    own.chosen >= chosen * MIN_POST_SHARE;
  for (let at = 0; at < blocks.length; at++)
    if (probabilities[at]! >= MIN_PROBABILITY && isPost(totals[templates[at]!]!)) keep[at] = 1;
}
