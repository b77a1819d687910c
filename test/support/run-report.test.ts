/** The report names the tests that passed only on a retry, and the files that did not pass. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { TestCase, TestModule } from 'vitest/node';
import { mergeRuns } from '../../scripts/test-runs.mjs';
import RunReporter from './run-report.ts';

const testCase = (fullName: string, flaky: boolean) =>
  ({
    fullName,
    module: { relativeModuleId: 'src/a.test.ts' },
    diagnostic: () => ({ flaky }),
    result: () => ({ errors: flaky ? [{ message: 'expected 1 to be 2\nand more' }] : [] }),
  }) as unknown as TestCase;
const testModule = (relativeModuleId: string, state: string) =>
  ({ relativeModuleId, state: () => state }) as unknown as TestModule;

describe('the report of a run', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(path.join(os.tmpdir(), 'lectern-report-'));
    vi.stubEnv('TEST_RUN_REPORT', path.join(folder, 'report.json'));
  });
  afterEach(() => {
    vi.unstubAllEnvs();
    rmSync(folder, { recursive: true });
  });

  it('prints the name and the first error of each test that passed on a retry', () => {
    const log = vi.spyOn(console, 'log').mockReturnValue();
    const reporter = new RunReporter();
    reporter.onTestCaseResult(testCase('passes at once', false));
    reporter.onTestCaseResult(testCase('passes later', true));
    expect(log).not.toHaveBeenCalled();
    reporter.onTestRunEnd([], []);
    expect(log.mock.calls).toEqual([['passed only when run again: src/a.test.ts > passes later: expected 1 to be 2']]);
    log.mockRestore();
  });

  it('names the files that failed or did not finish, and the errors outside the files', () => {
    new RunReporter().onTestRunEnd(
      [
        testModule('src/a.test.ts', 'passed'),
        testModule('src/b.test.ts', 'failed'),
        testModule('src/c.test.ts', 'queued'),
        testModule('src/d.test.ts', 'skipped'),
      ],
      [{ message: '[vitest-pool]: Worker forks emitted error.' }, { message: 'read ECONNRESET\nat a line' }],
    );
    expect(JSON.parse(readFileSync(path.join(folder, 'report.json'), 'utf8'))).toEqual({
      files: ['src/b.test.ts', 'src/c.test.ts'],
      errors: ['read ECONNRESET'],
    });
  });
});

describe('the results of two runs', () => {
  const test = (fullName: string, status: string, ...failureMessages: string[]) => ({
    fullName,
    status,
    failureMessages,
  });

  it('are those of the second for the files that it ran', () => {
    const first = new Map([
      ['src/a.test.ts', [test('a', 'passed')]],
      ['src/b.test.ts', [test('b', 'failed', 'Error: too slow\nat a line'), test('c', 'passed'), test('d', 'failed')]],
    ]);
    const second = new Map([
      ['src/b.test.ts', [test('b', 'passed'), test('c', 'passed'), test('d', 'failed')]],
      ['src/c.test.ts', [test('e', 'passed')]],
    ]);
    const { results, lines } = mergeRuns(first, second);
    expect([...results.values()].flat().map(({ fullName, status }) => `${fullName} ${status}`)).toEqual([
      'a passed',
      'b passed',
      'c passed',
      'd failed',
      'e passed',
    ]);
    expect(lines).toEqual([
      'passed only when run alone: src/b.test.ts > b: Error: too slow',
      'passed only when run alone: src/c.test.ts > e: the file was not finished',
    ]);
  });
});
