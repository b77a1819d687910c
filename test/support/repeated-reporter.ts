/**
 * Reports the tests that passed only on a retry, with the first error. Each of them indicates a bug in the test or in
 * the product.
 */
import type { Reporter, TestCase } from 'vitest/node';

export default class RepeatedReporter implements Reporter {
  readonly #lines: string[] = [];

  onTestCaseResult(test: TestCase): void {
    if (!test.diagnostic()?.flaky) return;
    const [error] = test.result().errors ?? [];
    const reason = error?.message.split('\n')[0] ?? 'no error was kept';
    this.#lines.push(`passed only when run again: ${test.module.relativeModuleId} > ${test.fullName}: ${reason}`);
  }

  onTestRunEnd(): void {
    for (const line of this.#lines) console.log(line);
  }
}
