/** Regular expressions from requests and definitions, matched by RE2 in linear time. */
import type { RE2JS } from 're2js';
import { BODY, invalidValueAt } from '../json/issues.ts';

/** The RE2 library, loaded on first use. Plain names are compared without it. */
let engine: Promise<typeof import('re2js')> | undefined;

async function compile(pattern: string): Promise<RE2JS> {
  engine ??= import('re2js');
  return (await engine).RE2JS.compile(pattern);
}

const MAX_PATTERN_LENGTH = 256;
/** Maximum pattern length once repetitions such as `{30}` are expanded: RE2 unrolls them. */
const MAX_EXPANDED_LENGTH = 3000;
/** Maximum number of Unicode classes such as `\\p{L}`. Each compiles to a large table that names do not need. */
const MAX_UNICODE_CLASSES = 4;
/** Maximum size of a compiled pattern in instructions. It bounds the cost of each matching step. */
const MAX_PROGRAM_SIZE = 1000;
const MAX_CACHED = 256;
const cache = new Map<string, Promise<RE2JS>>();

/** Compiles a pattern. The last 256 compiled patterns are cached. */
export function compilePattern(pattern: string): Promise<RE2JS> {
  const found = cache.get(pattern);
  if (found) return found;
  const compiled = compile(pattern);
  if (cache.size >= MAX_CACHED) cache.delete(cache.keys().next().value!);
  cache.set(pattern, compiled);
  // Do not cache failures, or invalid patterns would evict valid ones.
  compiled.catch(() => cache.delete(pattern));
  return compiled;
}

export type NameTest = (name: string) => boolean;

/** The reason why the pattern is too complex to compile; `undefined` if it is not. */
function findExcess(pattern: string): string | undefined {
  if (pattern.length > MAX_PATTERN_LENGTH) return `it is longer than ${MAX_PATTERN_LENGTH} characters`;
  let written = pattern.length;
  for (const [, least, most] of pattern.matchAll(/\{(\d+)(?:,(\d*))?\}/g))
    written *= Math.max(1, Number(most || least));
  if (written > MAX_EXPANDED_LENGTH) return 'it repeats too much with {…}';
  const classes = pattern.match(/\\p/gi)?.length ?? 0;
  return classes > MAX_UNICODE_CLASSES ? `it has more than ${MAX_UNICODE_CLASSES} Unicode classes` : undefined;
}

/**
 * Compiles a test of whether a name starts with a match for the pattern. Throws SubmittedDataMalformedError for a
 * pattern that is invalid or too expensive to compile or match.
 */
export async function compileTarget(pattern: string): Promise<NameTest> {
  if (/^\w+$/.test(pattern)) return (name) => name.startsWith(pattern);
  const reason = findExcess(pattern);
  if (reason) throw tooComplex(reason);
  const compiled = await compilePattern(pattern).catch((error: Error) => {
    throw notARegularExpression(error.message);
  });
  if (compiled.programSize() > MAX_PROGRAM_SIZE) throw tooComplex('it is too large once compiled');
  return (name) => compiled.matcher(name).lookingAt();
}

const tooComplex = (reason: string) =>
  invalidValueAt({ parent: BODY, key: 'targetExecutor' }, `value is too complex: ${reason}`);

const notARegularExpression = (reason: string) =>
  invalidValueAt({ parent: BODY, key: 'targetExecutor' }, `value is not a regular expression: ${reason}`);
