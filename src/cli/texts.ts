/** Texts as commands take them: arguments, or lines of the standard input. */
import { createInterface } from 'node:readline';
import type { CliContext } from './context.ts';
import { usageError } from './exit-codes.ts';

/**
 * The arguments, with the lines of the input in the place of `-`, or instead of them where there are none. A line that is
 * JSON (a string, or an object with `text`) is what it says, every other one is its text.
 */
export async function* readTexts(given: readonly string[], context: Input): AsyncGenerator<string> {
  if (given.length === 0 && context.input.isTTY) throw usageError('give texts, or lines on the standard input');
  for (const text of given.length > 0 ? given : ['-']) {
    if (text !== '-') yield text;
    else yield* readInputLines(context);
  }
}

type Input = Pick<CliContext, 'input' | 'signal'>;

async function* readInputLines({ input, signal }: Input): AsyncGenerator<string> {
  for await (const line of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY, signal })) {
    const text = line.replace(/^\uFEFF/, '');
    if (text.trim()) yield parseLine(text);
  }
  // What was to come is not known: half of the input is not all of it.
  signal.throwIfAborted();
}

function parseLine(line: string): string {
  if (!/^\s*["{]/.test(line)) return line;
  try {
    const value: unknown = JSON.parse(line);
    if (typeof value === 'string') return value;
    const { text } = value as { text?: unknown };
    return typeof text === 'string' ? text : line;
  } catch {
    return line;
  }
}
