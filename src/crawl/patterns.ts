/**
 * URL patterns from a caller: globs, or regular expressions between slashes. For every pattern, matching takes linear
 * time in the length of the URL.
 */
import type { RE2JS } from 're2js';
import { problem } from '#errors.ts';

export type UrlTest = (url: URL) => boolean;

/** The regular expression engine, loaded when a pattern first needs it. */
let engine: Promise<typeof import('re2js')> | undefined;

/**
 * Returns a test for URLs that match at least one of the patterns. `/…/` is a regular expression that is searched for
 * in the URL (`/…/i` ignores case). Any other text is a glob that must match in full: `*` matches any characters except
 * a slash, `**` any characters, and `?` one character. A glob with a scheme is matched against the URL, a glob that
 * starts with a slash against path and query, and any other glob against the end of the path after a slash (`*.pdf`).
 * Throws ParamValidationError with a path below `option`. The returned test throws the same error if slow matches have
 * taken too long in total, measured by `clock` in milliseconds. With `expressionsOn: 'path'`, regular expressions are
 * searched for in the path of the URL.
 */
export async function compilePatterns(
  patterns: readonly string[],
  option: string,
  { expressionsOn, clock = () => performance.now() }: PatternRules & { readonly clock?: () => number } = {},
): Promise<UrlTest> {
  if (!patterns.length) return () => false;
  engine ??= import('re2js');
  const { RE2JS: re2 } = await engine;
  limitRepetition(patterns, option);
  const tests = patterns.map((pattern, at) => {
    try {
      const compile: Compile = (text, ignoresCase) => re2.compile(text, ignoresCase ? re2.CASE_INSENSITIVE : 0);
      const { test, size } = testOf(pattern, compile, { expressionsOn });
      if (size > MAX_SIZE) throw new Error('it is too large; make it shorter');
      return test;
    } catch (error) {
      const path = `${option}.${at}`;
      const message = `${path} is not a valid pattern: ${(error as Error).message}`;
      throw problem('ParamValidationError', { path, message, value: pattern.slice(0, SHOWN) });
    }
  });
  return limitTime(tests, option, clock);
}

/** Maximum number of characters of a value that an error message quotes. */
const SHOWN = 100;
/** Maximum size of a compiled pattern, in instructions. The cost of matching increases with it. */
const MAX_SIZE = 1_000;
/** Maximum total size of all repetitions (pattern characters times count), because the compiler expands `{30}`. */
const MAX_EXPANDED = 30_000;

function limitRepetition(patterns: readonly string[], option: string): void {
  let expanded = 0;
  for (const [at, pattern] of patterns.entries()) {
    for (const [, least, most] of pattern.matchAll(/\{(\d+)(?:,(\d*))?\}/g))
      expanded += Number(most || least) * pattern.length;
    if (expanded <= MAX_EXPANDED) continue;
    const path = `${option}.${at}`;
    const message = `${path} is too large: its {…} repetitions expand to too many characters; use smaller counts`;
    throw problem('ParamValidationError', { path, message, value: pattern.slice(0, SHOWN) });
  }
}

/** A match that takes longer than FAST_MS is slow. MAX_SLOW_MS limits the total time of slow matches. */
const FAST_MS = 5;
const MAX_SLOW_MS = 1_000;
/** Each fast match reduces the total by this amount, so that occasional CPU scheduling delays do not add up. */
const REGAINED_MS = 0.1;

/** Limits the total time of slow matches, because even a linear-time pattern can take a second for each URL. */
function limitTime(tests: readonly UrlTest[], option: string, clock: () => number): UrlTest {
  let slowMs = 0;
  const timedTest = (test: UrlTest, url: URL): boolean => {
    const startedAt = clock();
    const fits = test(url);
    const ms = clock() - startedAt;
    slowMs = ms > FAST_MS ? slowMs + ms : Math.max(0, slowMs - REGAINED_MS);
    if (slowMs <= MAX_SLOW_MS) return fits;
    throw problem('ParamValidationError', {
      path: option,
      message: `${option} has patterns that take too long to match; use simpler ones`,
    });
  };
  return (url) => tests.some((test) => timedTest(test, url));
}

interface Compiled {
  readonly test: UrlTest;
  readonly size: number;
}

export interface PatternRules {
  readonly expressionsOn?: 'path' | undefined;
}

type Compile = (text: string, ignoresCase?: boolean) => RE2JS;

function testOf(pattern: string, compile: Compile, { expressionsOn }: PatternRules): Compiled {
  const expression = /^\/(.+)\/(i?)$/s.exec(pattern);
  if (expression) {
    const compiled = compile(expression[1]!, expression[2] !== '');
    const textOf = ({ pathname, href }: URL) => (expressionsOn === 'path' ? pathname : href);
    return { test: (url) => compiled.matcher(textOf(url)).find(), size: compiled.programSize() };
  }
  const compiled = compile(globSource(pattern));
  const size = compiled.programSize();
  if (/^https?:\/\//i.test(pattern)) return { test: (url) => compiled.matches(url.href), size };
  if (pattern.startsWith('/')) return { test: (url) => compiled.matches(url.pathname + url.search), size };
  // `*.pdf` matches the file with or without a query.
  const suffix = compile(`(?:.*/)?${globSource(pattern)}`);
  return { test: (url) => suffix.matches(url.pathname) || suffix.matches(url.pathname + url.search), size };
}

const globSource = (glob: string): string =>
  glob.replace(/\*\*|[\s\S]/gu, (sign) => {
    if (sign === '**') return '.*';
    if (sign === '*') return '[^/]*';
    if (sign === '?') return '.';
    return sign.replace(/[\\^$.*+?()[\]{}|]/, '\\$&');
  });
