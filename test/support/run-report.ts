/**
 * Reports the tests that passed only on a retry, with the first error: each of them indicates a bug in the test or in the
 * product. For `scripts/test.mjs`, it writes which files did not pass to the file that TEST_RUN_REPORT names.
 */
import { writeFileSync } from 'node:fs';
import type { Reporter, SerializedError, TestCase, TestModule } from 'vitest/node';

/** What Vitest says if the process of a test file ended; the file is then neither passed nor failed. */
const WORKER_ENDED = /^\[vitest-pool\]: Worker \w+ emitted error/;

export interface RunReport {
  /** Paths of files that failed or did not finish, relative to the root of the project. */
  readonly files: readonly string[];
  /** First lines of errors that belong to no test file. */
  readonly errors: readonly string[];
}

export default class RunReporter implements Reporter {
  readonly #lines: string[] = [];

  onTestCaseResult(test: TestCase): void {
    if (!test.diagnostic()?.flaky) return;
    const [error] = test.result().errors ?? [];
    const reason = error?.message.split('\n')[0] ?? 'no error was kept';
    this.#lines.push(`passed only when run again: ${test.module.relativeModuleId} > ${test.fullName}: ${reason}`);
  }

  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly SerializedError[]): void {
    for (const line of this.#lines) console.log(line);
    const file = process.env.TEST_RUN_REPORT;
    if (file === undefined) return;
    const report: RunReport = {
      files: modules
        .filter((module) => !['passed', 'skipped'].includes(module.state()))
        .map((module) => module.relativeModuleId),
      errors: unhandledErrors
        .map(({ message }) => message.split('\n')[0] ?? '')
        .filter((message) => !WORKER_ENDED.test(message)),
    };
    writeFileSync(file, JSON.stringify(report));
  }
}
