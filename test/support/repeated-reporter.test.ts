/** The report names the tests that passed only on a retry. */
import { expect, it, vi } from 'vitest';
import type { TestCase } from 'vitest/node';
import RepeatedReporter from './repeated-reporter.ts';

const testCase = (fullName: string, flaky: boolean) =>
  ({
    fullName,
    module: { relativeModuleId: 'src/a.test.ts' },
    diagnostic: () => ({ flaky }),
    result: () => ({ errors: flaky ? [{ message: 'expected 1 to be 2\nand more' }] : [] }),
  }) as unknown as TestCase;

it('prints the name and the first error of each', () => {
  const log = vi.spyOn(console, 'log').mockReturnValue();
  const reporter = new RepeatedReporter();
  reporter.onTestCaseResult(testCase('passes at once', false));
  reporter.onTestCaseResult(testCase('passes later', true));
  expect(log).not.toHaveBeenCalled();
  reporter.onTestRunEnd();
  expect(log.mock.calls).toEqual([['passed only when run again: src/a.test.ts > passes later: expected 1 to be 2']]);
  log.mockRestore();
});
