/** Stores a job's input: reads it line by line, rejects repeated custom_ids, and packs the lines into pieces. */
import { createHash } from 'node:crypto';
import { problem } from '#errors.ts';
import type { GuardedFetch } from '#net/fetch/fetch.ts';
import { linesOf } from './jsonl.ts';
import { type IsModel, MAX_LINE_BYTES, readLine, readLineValue, type StoredLine } from './line.ts';
import { PIECE_BYTES } from './objects.ts';
import type { StoredInput } from './store.ts';

export const MAX_INLINE_LINES = 10_000;
const MAX_FILE_LINES = 50_000;
const MAX_FILE_BYTES = 200_000_000;
const FILE_MS = 600_000;
const FIRST_BYTE_MS = 10_000;

/** Packs lines into pieces and returns each piece once it is full. */
function createPacker() {
  const seen = new Set<string>();
  let parts: string[] = [];
  let length = 0;
  let lines = 0;

  /** If two lines have the same custom_id, marks the later one as failed. */
  function once(line: StoredLine): StoredLine {
    if (line.id === null) return line;
    const name = createHash('sha256').update(line.id).digest('base64').slice(0, 24);
    if (seen.has(name)) return { line: line.line, id: line.id, fault: 'custom_id was used by an earlier line' };
    seen.add(name);
    return line;
  }

  function take(): Buffer {
    const bytes = Buffer.from(parts.join(''));
    parts = [];
    length = 0;
    return bytes;
  }

  return {
    /** Adds a line. Returns a piece if one is full. */
    add(read: StoredLine): Buffer | undefined {
      const line = once(read);
      let text = JSON.stringify(line);
      if (text.length > MAX_LINE_BYTES) {
        text = JSON.stringify({
          line: line.line,
          id: line.id,
          fault: `the line is longer than ${MAX_LINE_BYTES} bytes`,
        });
      }
      lines++;
      parts.push(text, '\n');
      length += text.length;
      return length >= PIECE_BYTES ? take() : undefined;
    },
    rest: take,
    get lines() {
      return lines;
    },
  };
}

/** Builds the input from parsed lines. */
export function inlineInput(values: readonly unknown[], isModel: IsModel): StoredInput {
  function* pieces() {
    const packer = createPacker();
    for (const [index, value] of values.entries()) {
      const piece = packer.add(readLineValue(value, index + 1, isModel));
      if (piece) yield piece;
    }
    yield packer.rest();
  }
  return { lines: values.length, pieces: pieces() };
}

export interface FileInput {
  readonly url: string;
  readonly fetch: GuardedFetch;
  readonly isModel: IsModel;
  readonly signal: AbortSignal;
  readonly write: (piece: Uint8Array) => Promise<void>;
}

/** The file cannot be used as input, and a retry would not help. */
export class InvalidInputError extends Error {
  override readonly name = 'InvalidInputError';
}

/**
 * Downloads and stores an input file, and returns its number of lines. Throws InvalidInputError, or a Problem if the
 * download fails.
 */
export async function fileInput({ url, fetch, isModel, signal, write }: FileInput): Promise<number> {
  const answer = await fetch(url, {
    signal,
    timeoutMs: FILE_MS,
    firstByteTimeoutMs: FIRST_BYTE_MS,
    maxBytes: MAX_FILE_BYTES,
  });
  if (answer.status !== 200) {
    answer.discard();
    const message = `The server of input_url responded with status ${answer.status}`;
    throw answer.status >= 500 ? problem('AssertionFailureError', { message }) : new InvalidInputError(message);
  }
  return packLines(answer.body, { name: 'input_url', isModel, write });
}

interface Packing extends Pick<FileInput, 'isModel' | 'write'> {
  /** The name of the file in messages. */
  readonly name: string;
  /** The endpoint that each line must name, if it names one. */
  readonly endpoint?: string;
}

/** Stores the lines of a file, and returns their number. Throws InvalidInputError. */
export async function packLines(
  content: AsyncIterable<Uint8Array>,
  { name, isModel, endpoint, write }: Packing,
): Promise<number> {
  const packer = createPacker();
  for await (const { number, bytes } of linesOf(content, { maxLineBytes: MAX_LINE_BYTES })) {
    if (packer.lines === MAX_FILE_LINES) throw new InvalidInputError(`${name} has more than ${MAX_FILE_LINES} lines`);
    const piece = packer.add(readLine(bytes, number, isModel, endpoint));
    if (piece) await write(piece);
  }
  if (!packer.lines) throw new InvalidInputError(`${name} has no lines`);
  await write(packer.rest());
  return packer.lines;
}
