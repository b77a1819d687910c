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
 * ParamValidationError with `option` as its path.
 */
export async function compilePatterns(patterns: readonly string[], option: string): Promise<AddressTest> {
  if (!patterns.length) return () => false;
  engine ??= import('re2js');
  const { RE2JS: re2 } = await engine;
  const tests = patterns.map((pattern, at) => {
    try {
      return testOf(pattern, (text, flags) => re2.compile(text, flags), re2.CASE_INSENSITIVE);
    } catch (error) {
      const path = `${option}.${at}`;
      const message = `${path} is not a pattern: ${(error as Error).message}`;
      throw problem('ParamValidationError', { path, message, value: pattern.slice(0, SHOWN) });
    }
  });
  return (url) => tests.some((test) => test(url));
}

const SHOWN = 100;

function testOf(pattern: string, compile: (text: string, flags: number) => RE2JS, anyCase: number): AddressTest {
  const expression = /^\/(.+)\/(i?)$/s.exec(pattern);
  if (expression) {
    const compiled = compile(expression[1]!, expression[2] ? anyCase : 0);
    return (url) => compiled.matcher(url.href).find();
  }
  const compiled = compile(globSource(pattern), 0);
  if (/^https?:\/\//i.test(pattern)) return (url) => compiled.matches(url.href);
  if (pattern.startsWith('/')) return (url) => compiled.matches(url.pathname + url.search);
  // `*.pdf` is meant of the file, whatever is asked of it.
  const inside = compile(`(?:.*/)?${globSource(pattern)}`, 0);
  return (url) => inside.matches(url.pathname) || inside.matches(url.pathname + url.search);
}

const globSource = (glob: string): string =>
  glob.replace(/\*\*|[\s\S]/gu, (sign) => {
    if (sign === '**') return '.*';
    if (sign === '*') return '[^/]*';
    if (sign === '?') return '.';
    return sign.replace(/[\\^$.*+?()[\]{}|]/, '\\$&');
  });
