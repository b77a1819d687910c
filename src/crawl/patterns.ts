/**
 * Which addresses a caller wants, and does not: globs, or regular expressions between slashes, both matched in time
 * linear in the address whatever they say.
 */
import type { RE2JS } from 're2js';
import { problem } from '#errors.ts';

export type AddressTest = (url: URL) => boolean;

/** Loaded when the first pattern needs it. */
let engine: Promise<typeof import('re2js')> | undefined;

/**
 * Whether an address fits one of the patterns. `/…/` is a regular expression that is looked for in the whole address
 * (`/…/i` in either case); any other text is a glob that the whole address must fit: `*` is any run of characters but
 * a slash, `**` any run, `?` one character. A glob with a scheme is held against the address, one that begins with a
 * slash against path and query, any other against the end of the path behind a slash (`*.pdf`). Throws
 * ParamValidationError with `option` as its path; so does the test, when the patterns have taken too long by the clock,
 * which counts milliseconds.
 */
export async function compilePatterns(
  patterns: readonly string[],
  option: string,
  clock: () => number = () => performance.now(),
): Promise<AddressTest> {
  if (!patterns.length) return () => false;
  engine ??= import('re2js');
  const { RE2JS: re2 } = await engine;
  refuseRepeated(patterns, option);
  const tests = patterns.map((pattern, at) => {
    try {
      const { test, size } = testOf(pattern, (text, flags) => re2.compile(text, flags), re2.CASE_INSENSITIVE);
      if (size > MAX_SIZE) throw new Error('it is too large');
      return test;
    } catch (error) {
      const path = `${option}.${at}`;
      const message = `${path} is not a pattern: ${(error as Error).message}`;
      throw problem('ParamValidationError', { path, message, value: pattern.slice(0, SHOWN) });
    }
  });
  return timed(tests, option, clock);
}

const SHOWN = 100;
/** Of a compiled pattern, in instructions: what a step through an address may cost. */
const MAX_SIZE = 1_000;
/** Characters of patterns, by how often they might have to be written out: `{30}` does that, and it takes its time. */
const MAX_WRITTEN_OUT = 30_000;

function refuseRepeated(patterns: readonly string[], option: string): void {
  let written = 0;
  for (const [at, pattern] of patterns.entries()) {
    for (const [, least, most] of pattern.matchAll(/\{(\d+)(?:,(\d*))?\}/g))
      written += Number(most || least) * pattern.length;
    if (written <= MAX_WRITTEN_OUT) continue;
    const path = `${option}.${at}`;
    const message = `${path} is too large: what stands before {…} is repeated too often`;
    throw problem('ParamValidationError', { path, message, value: pattern.slice(0, SHOWN) });
  }
}

/** What a test may take without being counted, and what all that are counted may take. */
const FAST_MS = 5;
const MAX_SLOW_MS = 1_000;
/** Tests that are fast make up for those that had to wait for something else. */
const REGAINED_MS = 0.1;

/** Linear is not fast: patterns can be made that take a second for each address. */
function timed(tests: readonly AddressTest[], option: string, clock: () => number): AddressTest {
  let slowMs = 0;
  const timedTest = (test: AddressTest, url: URL): boolean => {
    const startedAt = clock();
    const fits = test(url);
    const ms = clock() - startedAt;
    slowMs = ms > FAST_MS ? slowMs + ms : Math.max(0, slowMs - REGAINED_MS);
    if (slowMs <= MAX_SLOW_MS) return fits;
    throw problem('ParamValidationError', { path: option, message: `${option} has patterns that take too long` });
  };
  return (url) => tests.some((test) => timedTest(test, url));
}

interface Compiled {
  readonly test: AddressTest;
  readonly size: number;
}

function testOf(pattern: string, compile: (text: string, flags: number) => RE2JS, anyCase: number): Compiled {
  const expression = /^\/(.+)\/(i?)$/s.exec(pattern);
  if (expression) {
    const compiled = compile(expression[1]!, expression[2] ? anyCase : 0);
    return { test: (url) => compiled.matcher(url.href).find(), size: compiled.programSize() };
  }
  const compiled = compile(globSource(pattern), 0);
  const size = compiled.programSize();
  if (/^https?:\/\//i.test(pattern)) return { test: (url) => compiled.matches(url.href), size };
  if (pattern.startsWith('/')) return { test: (url) => compiled.matches(url.pathname + url.search), size };
  // `*.pdf` is meant of the file, whatever is asked of it.
  const inside = compile(`(?:.*/)?${globSource(pattern)}`, 0);
  return { test: (url) => inside.matches(url.pathname) || inside.matches(url.pathname + url.search), size };
}

const globSource = (glob: string): string =>
  glob.replace(/\*\*|[\s\S]/gu, (sign) => {
    if (sign === '**') return '.*';
    if (sign === '*') return '[^/]*';
    if (sign === '?') return '.';
    return sign.replace(/[\\^$.*+?()[\]{}|]/, '\\$&');
  });
