/** Patterns from requests and definitions, matched in time linear in the text whatever they say. */
import type { RE2JS } from 're2js';
import { BODY, wrongValue } from './json-issues.ts';

/** Loaded when the first pattern needs it: names without signs are compared as text. */
let engine: Promise<typeof import('re2js')> | undefined;

async function compile(pattern: string): Promise<RE2JS> {
  engine ??= import('re2js');
  return (await engine).RE2JS.compile(pattern);
}

const MAX_PATTERN_LENGTH = 1000;
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

/**
 * Whether a name begins with a match of the pattern. Throws SubmittedDataMalformedError when it is not a pattern.
 */
export async function targetTest(pattern: string): Promise<NameTest> {
  if (/^\w+$/.test(pattern)) return (name) => name.startsWith(pattern);
  if (pattern.length > MAX_PATTERN_LENGTH) throw notAPattern('it is too long');
  try {
    const compiled = await compilePattern(pattern);
    return (name) => compiled.matcher(name).lookingAt();
  } catch (error) {
    throw notAPattern((error as Error).message);
  }
}

const notAPattern = (reason: string) =>
  wrongValue({ up: BODY, key: 'targetExecutor' }, `value is not a regular expression: ${reason}`);
