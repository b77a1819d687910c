/**
 * The cost of a search: the tokens of its pages, or a fixed amount for the list of results if that is higher
 * (docs/reference/wire/search.md, Charge).
 */
import type { SearchKind } from './query.ts';

/** Cost of a list of RESULTS_PER_LIST results. */
const LIST_TOKENS = 10_000;
const RESULTS_PER_LIST = 10;
const MAX_CHARGE = 2_000_000;

export interface Charge {
  readonly tokens: number;
  /** The token count shown for each result. */
  readonly each: readonly number[];
}

/** `pages` contains the token count of each result's page. */
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
