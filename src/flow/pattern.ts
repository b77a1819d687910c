/** Patterns from requests and definitions, matched in time linear in the text whatever they say. */
import type { RE2JS } from 're2js';
import { BODY, wrongValue } from './json-issues.ts';

/** Loaded when the first pattern needs it: names without signs are compared as text. */
let engine: Promise<typeof import('re2js')> | undefined;

async function compile(pattern: string): Promise<RE2JS> {
  engine ??= import('re2js');
  return (await engine).RE2JS.compile(pattern);
}

const MAX_PATTERN_LENGTH = 256;
/** Characters of a pattern times all of its counts, as `{30}`: the engine writes out what is repeated. */
const MAX_WRITTEN_OUT = 3000;
/** Classes of Unicode, as `\\p{L}`: each is a table of its own, and names have no use for them. */
const MAX_UNICODE_CLASSES = 4;
/** Of a compiled pattern, in instructions: what a step through a name may cost. */
const MAX_SIZE = 1000;
const KEPT = 256;
const known = new Map<string, Promise<RE2JS>>();

/** Compiled, the latest few hundred of them kept. */
export function compilePattern(pattern: string): Promise<RE2JS> {
  const found = known.get(pattern);
  if (found) return found;
  const compiled = compile(pattern);
  if (known.size >= KEPT) known.delete(known.keys().next().value!);
  known.set(pattern, compiled);
  // A bad pattern rejects for who awaits it; forgotten, it cannot push out good ones.
  compiled.catch(() => known.delete(pattern));
  return compiled;
}

export type NameTest = (name: string) => boolean;

/** Why a pattern of a request is not compiled; undefined when it may be. */
function tooMuch(pattern: string): string | undefined {
  if (pattern.length > MAX_PATTERN_LENGTH) return `it is longer than ${MAX_PATTERN_LENGTH} characters`;
  let written = pattern.length;
  for (const [, least, most] of pattern.matchAll(/\{(\d+)(?:,(\d*))?\}/g))
    written *= Math.max(1, Number(most || least));
  if (written > MAX_WRITTEN_OUT) return 'what stands before {…} is repeated too often';
  const classes = pattern.match(/\\p/gi)?.length ?? 0;
  return classes > MAX_UNICODE_CLASSES ? `it has more than ${MAX_UNICODE_CLASSES} classes of Unicode` : undefined;
}

/**
 * Whether a name begins with a match of the pattern. Throws SubmittedDataMalformedError when it is not a pattern, or one
 * that takes too long to compile or to match.
 */
export async function targetTest(pattern: string): Promise<NameTest> {
  if (/^\w+$/.test(pattern)) return (name) => name.startsWith(pattern);
  const reason = tooMuch(pattern);
  if (reason) throw refused(reason);
  const compiled = await compilePattern(pattern).catch((error: Error) => {
    throw notAPattern(error.message);
  });
  if (compiled.programSize() > MAX_SIZE) throw refused('it is too large when it is compiled');
  return (name) => compiled.matcher(name).lookingAt();
}

const refused = (reason: string) => wrongValue({ up: BODY, key: 'targetExecutor' }, `value is too complex: ${reason}`);

const notAPattern = (reason: string) =>
  wrongValue({ up: BODY, key: 'targetExecutor' }, `value is not a regular expression: ${reason}`);
