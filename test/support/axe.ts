/** Checks pages for accessibility with axe-core. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

const SOURCE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

interface Violation {
  readonly id: string;
  readonly nodes: readonly { readonly target: readonly string[]; readonly failureSummary: string }[];
}

/**
 * Returns the findings of axe-core on a page, each with the element. All of its rules apply, best practices included,
 * unless `rules` names some.
 */
export async function axeFindings(page: Page, rules?: readonly string[]): Promise<string[]> {
  // Evaluated by the debugger, so the policy of the page stays as it is.
  await page.evaluate(SOURCE);
  const options = { resultTypes: ['violations'], ...(rules && { runOnly: { type: 'rule', values: rules } }) };
  const violations: readonly Violation[] = await page.evaluate(
    `axe.run(${JSON.stringify(options)}).then(({ violations }) => violations)`,
  );
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(
      ({ target, failureSummary }) => `${id}: ${target.join(' ')}: ${failureSummary.split('\n').at(-1)?.trim()}`,
    ),
  );
}
