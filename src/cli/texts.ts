/** Text inputs of commands: arguments, or lines of standard input. */
import { createInterface } from 'node:readline';
import type { CliContext } from './context.ts';
import { usageError } from './exit-codes.ts';

/**
 * Yields the arguments, or the lines of standard input if the argument is `-` or missing. A line may be JSON: a string,
 * or an object with `text`.
 */
export async function* readTexts(given: readonly string[], context: Input): AsyncGenerator<string> {
  if (given.length === 0 && context.input.isTTY)
    throw usageError('no texts: give them as arguments or as lines on standard input');
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
  // Interrupted input is incomplete and must not be processed as if it were complete.
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
