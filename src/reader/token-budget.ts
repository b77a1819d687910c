/** Implements the `tokenBudget` option: refuses a result that costs more. */
import { problem } from '#errors.ts';
import type { Options } from './options/resolve.ts';
import type { Rendition } from './rendition.ts';

/** Throws BudgetExceededError if the rendition costs more tokens than the caller allows. */
export function assertBudget({ tokens }: Rendition, { tokenBudget }: Options): void {
  if (!tokenBudget || tokens <= tokenBudget) return;
  throw problem('BudgetExceededError', {
    path: 'tokenBudget',
    message: `The response costs ${tokens} tokens; tokenBudget is ${tokenBudget}`,
  });
}
