/** Examines a page or a text for signs that it stands in place of the content. */
import type { Document } from '#html/node.ts';
import { hasEmbeddedText } from '../extract/embedded/embedded-text.ts';
import type { Blocked } from './blocked.ts';
import { type DetectionInput, detectBlocked } from './detect.ts';
import { blockedPageFacts, hasMuchText } from './page-facts.ts';

export type Answer = Omit<DetectionInput, 'facts'>;

/** What a page is instead of the content; `undefined` for content. Call it before the tree is changed. */
export function examinePage(document: Document, answer: Answer): Blocked | undefined {
  if (hasMuchText(document)) return undefined;
  const blocked = detectBlocked({ ...answer, facts: blockedPageFacts(document) });
  // The answer for such a page is the text in its scripts, with a warning.
  return blocked?.kind === 'js-shell' && answer.status < 400 && hasEmbeddedText(document) ? undefined : blocked;
}
