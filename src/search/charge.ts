/** What a search costs (contract, section 9): its pages, or a fixed amount for its list when that is more. */
import type { SearchKind } from './query.ts';

const LIST_TOKENS = 10_000;
const RESULTS_PER_LIST = 10;
const MAX_CHARGE = 2_000_000;

export interface Charge {
  readonly tokens: number;
  /** What is shown of each result. */
  readonly each: readonly number[];
}

/** `pages` is what each result's page costs. */
export function chargeOf(pages: readonly number[], kind: SearchKind, provider: string | undefined): Charge {
  const factor = kind !== 'web' ? 5 : provider === 'bing' ? 3 : 1;
  const fixed = Math.min(MAX_CHARGE, LIST_TOKENS * Math.ceil(pages.length / RESULTS_PER_LIST) * factor);
  const sum = Math.min(
    MAX_CHARGE,
    pages.reduce((total, tokens) => total + tokens, 0),
  );
  if (sum > fixed) return { tokens: sum, each: pages };
  return { tokens: fixed, each: pages.map(() => Math.ceil(fixed / pages.length)) };
}
