import { describe, expect, it } from 'vitest';
import { compileTarget } from './pattern.ts';

const matching = async (pattern: string, names: readonly string[]) => names.filter(await compileTarget(pattern));

describe('a target pattern', () => {
  it.each<[string, string[]]>([
    ['exec', ['execA', 'execB']],
    ['exec[AB]$', ['execA', 'execB']],
    ['(execA|other)', ['execA', 'other']],
    ['[a-z]{2,8}[A-Z]{1,4}', ['execA', 'execB']],
    ['(?i)EXEC', ['execA', 'execB']],
    ['\\p{L}+$', ['execA', 'execB', 'other']],
    [Array.from({ length: 20 }, (_, at) => `encoder${at}`).join('|'), []],
  ])('%s matches the start of names', async (pattern, names) => {
    expect(await matching(pattern, ['execA', 'execB', 'other'])).toEqual(names);
  });

  it.each([
    ['a{0,999}', 'repeats too much'],
    ['((a{0,30}){0,30}){0,30}', 'repeats too much'],
    ['(?:(?:a?){0,30}){0,30}', 'repeats too much'],
    ['\\w{1,50}\\w{1,50}', 'repeats too much'],
    ['\\p{L}'.repeat(50), 'more than 4 Unicode classes'],
    ['[\\PL\\pN]'.repeat(20), 'more than 4 Unicode classes'],
    ['.*'.repeat(500), 'longer than 256'],
    ['(a*)*'.repeat(200), 'longer than 256'],
  ])('refuses %s before compiling it', async (pattern, reason) => {
    await expect(compileTarget(pattern)).rejects.toMatchObject({
      name: 'SubmittedDataMalformedError',
      code: 422,
      message: expect.stringContaining(reason),
      facts: { detail: [{ loc: ['body', 'targetExecutor'] }] },
    });
  });

  it.each(['(', 'a)', '[', '(?<n>'])('refuses the invalid pattern %s', async (pattern) => {
    await expect(compileTarget(pattern)).rejects.toThrow('body.targetExecutor: value is not a regular expression');
  });
});
