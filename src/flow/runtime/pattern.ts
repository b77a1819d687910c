/** Regular expressions from requests and definitions, matched by RE2 in time linear in the text. */
import type { RE2JS } from 're2js';
import { BODY, wrongValue } from '../json/issues.ts';

/** Loaded on first use. Plain names are compared without it. */
let engine: Promise<typeof import('re2js')> | undefined;

async function compile(pattern: string): Promise<RE2JS> {
  engine ??= import('re2js');
  return (await engine).RE2JS.compile(pattern);
}

const MAX_PATTERN_LENGTH = 256;
/** Maximum pattern length once repetitions such as `{30}` are expanded: RE2 unrolls them. */
const MAX_WRITTEN_OUT = 3000;
/** Maximum number of Unicode classes such as `\\p{L}`. Each compiles to a large table that names do not need. */
const MAX_UNICODE_CLASSES = 4;
/** Maximum size of a compiled pattern in instructions. It bounds the cost of each matching step. */
const MAX_SIZE = 1000;
const KEPT = 256;
const known = new Map<string, Promise<RE2JS>>();

/** Compiles a pattern and caches the last 256 of them. */
export function compilePattern(pattern: string): Promise<RE2JS> {
  const found = known.get(pattern);
  if (found) return found;
  const compiled = compile(pattern);
  if (known.size >= KEPT) known.delete(known.keys().next().value!);
  known.set(pattern, compiled);
  // Do not cache failures, or invalid patterns would evict valid ones.
  compiled.catch(() => known.delete(pattern));
  return compiled;
}

export type NameTest = (name: string) => boolean;

/** Why the pattern is too complex to compile; undefined if it is not. */
function tooMuch(pattern: string): string | undefined {
  if (pattern.length > MAX_PATTERN_LENGTH) return `it is longer than ${MAX_PATTERN_LENGTH} characters`;
  let written = pattern.length;
  for (const [, least, most] of pattern.matchAll(/\{(\d+)(?:,(\d*))?\}/g))
    written *= Math.max(1, Number(most || least));
  if (written > MAX_WRITTEN_OUT) return 'it repeats too much with {…}';
  const classes = pattern.match(/\\p/gi)?.length ?? 0;
  return classes > MAX_UNICODE_CLASSES ? `it has more than ${MAX_UNICODE_CLASSES} Unicode classes` : undefined;
}

/**
 * Compiles a test whether a name starts with a match of the pattern. Throws SubmittedDataMalformedError for a pattern
 * that is invalid or too expensive to compile or match.
 */
export async function targetTest(pattern: string): Promise<NameTest> {
  if (/^\w+$/.test(pattern)) return (name) => name.startsWith(pattern);
  const reason = tooMuch(pattern);
  if (reason) throw refused(reason);
  const compiled = await compilePattern(pattern).catch((error: Error) => {
    throw notAPattern(error.message);
  });
  if (compiled.programSize() > MAX_SIZE) throw refused('it is too large once compiled');
  return (name) => compiled.matcher(name).lookingAt();
}

const refused = (reason: string) => wrongValue({ up: BODY, key: 'targetExecutor' }, `value is too complex: ${reason}`);

const notAPattern = (reason: string) =>
  wrongValue({ up: BODY, key: 'targetExecutor' }, `value is not a regular expression: ${reason}`);
