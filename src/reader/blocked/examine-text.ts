/** Examines a text that is not HTML. */
import type { Blocked } from './blocked.ts';
import { detectBlocked } from './detect.ts';
import type { Answer } from './examine.ts';
import { textFacts } from './page-facts.ts';

/** What a text is instead of the content; `undefined` for content. Only its status can show that. */
export const examineText = (text: string, answer: Answer): Blocked | undefined =>
  answer.status < 400 ? undefined : detectBlocked({ ...answer, facts: textFacts(text) });
