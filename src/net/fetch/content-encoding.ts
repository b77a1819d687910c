/**
 * Undoes Content-Encoding as the bytes come, and keeps every byte that could be decoded before the data went wrong. What
 * browsers make of headers that are not true holds here too (docs/guide/http.md).
 */
import { isUtf8 } from 'node:buffer';
import zlib from 'node:zlib';
import { problem } from '#errors.ts';
import { peek } from './body.ts';
import { createByteQueue } from './byte-queue.ts';
import { gzipHeaderLength, isGzip } from './gzip-header.ts';
import { MAX_WINDOW_LOG, unzstd } from './zstd.ts';

type Decoder = zlib.Inflate | zlib.InflateRaw | zlib.BrotliDecompress;

// Later Nodes have zstd; the oldest that we support has not, nor have its types.
const { createZstdDecompress } = zlib as unknown as {
  createZstdDecompress?: (options: { params: Record<number, number> }) => Decoder;
};
const { ZSTD_d_windowLogMax = 0 } = zlib.constants as { ZSTD_d_windowLogMax?: number };

/** What may be asked for in Accept-Encoding. */
export const ACCEPT_ENCODING = 'gzip, deflate, br, zstd';

/** More layers than this are an attack or a mistake. */
const MAX_LAYERS = 3;

/** The codings in the order in which they were applied; `unknown` when one of them is: browsers undo none then. */
export type Codings = readonly string[] | 'unknown';

/** Undefined: there are too many. */
export function parseContentEncoding(header: string | undefined): Codings | undefined {
  const names = (header ?? '')
    .toLowerCase()
    .split(',')
    .map((name) => name.trim().replace(/^x-/, ''))
    .filter((name) => name && name !== 'identity' && name !== 'none');
  if (!names.every((name) => Object.hasOwn(UNDO, name))) return 'unknown';
  return names.length <= MAX_LAYERS ? names : undefined;
}

export const unreadableEncoding = () =>
  problem('AssertionFailureError', { message: 'The target is encoded in a way that cannot be read' });

/**
 * Throws what the source or a decoder throws, after all bytes before it have been given. AssertionFailureError: the
 * coding is unknown, and the bytes are no text.
 */
export function decodeContent(source: AsyncIterable<Uint8Array>, codings: Codings): AsyncIterable<Uint8Array> {
  if (codings === 'unknown') return textAlone(source);
  return codings.reduceRight<AsyncIterable<Uint8Array>>((bytes, name) => unlessText(bytes, UNDO[name]!), source);
}

/** So much tells text from what a coder makes. */
const LOOKED_AT = 512;
const hasControls = (start: Uint8Array) => /[\x00-\x08\x0e-\x1a\x1c-\x1f]/.test(Buffer.from(start).toString('latin1'));

async function* textAlone(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const { start, bytes } = await peek(source, LOOKED_AT);
  if (hasControls(start)) throw unreadableEncoding();
  yield* bytes;
}

/** Servers put the header on what they did not encode. */
async function* unlessText(source: AsyncIterable<Uint8Array>, undo: Undo): AsyncGenerator<Uint8Array> {
  const { start, bytes } = await peek(source, LOOKED_AT);
  if (start.length) yield* isText(start) ? bytes : undo(bytes);
}

/** Few bytes of a coder may have no controls among them, but hardly are UTF-8 then. */
const isText = (start: Uint8Array) =>
  !hasControls(start) && (start.length === LOOKED_AT || (start.length >= LEAST_TEXT && isUtf8(start)));
const LEAST_TEXT = 16;

type Undo = (bytes: AsyncIterable<Uint8Array>) => AsyncIterable<Uint8Array>;

const UNDO: Record<string, Undo> = {
  gzip: ungzip,
  deflate: inflate,
  br: (bytes) => through(bytes, zlib.createBrotliDecompress()),
  zstd: (bytes) =>
    createZstdDecompress
      ? through(bytes, createZstdDecompress({ params: { [ZSTD_d_windowLogMax]: MAX_WINDOW_LOG } }))
      : unzstd(bytes),
};

/**
 * What its checksum says is not looked at, and what follows the last member is passed over, as in browsers. What does
 * not begin as gzip is no gzip.
 */
async function* ungzip(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const { start, bytes } = await peek(source, LOOKED_AT);
  if (!isGzip(start)) return yield* bytes;
  const length = gzipHeaderLength(start);
  if (length === undefined) return yield* through(bytes, zlib.createGunzip());
  const iterator = without(bytes, length)[Symbol.asyncIterator]();
  try {
    const rest = yield* inflateRaw(iterator);
    const next = await peek(without(joined(rest, iterator), GZIP_TRAILER_BYTES), 2);
    if (next.start.length > 1 && isGzip(next.start)) yield* through(next.bytes, zlib.createGunzip());
  } finally {
    await iterator.return?.(undefined);
  }
}
/** A checksum and a length. */
const GZIP_TRAILER_BYTES = 8;

/** The word means zlib's format, but servers send bare deflate under it as well. */
async function* inflate(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const { start, bytes } = await peek(source, 2);
  const [first = 0, second = 0] = start;
  const isZlib = (first & 0x0f) === 8 && ((first << 8) | second) % 31 === 0;
  yield* inflateRaw(without(bytes, isZlib ? ZLIB_HEADER_BYTES : 0)[Symbol.asyncIterator]());
}
const ZLIB_HEADER_BYTES = 2;

/** Gives what the last chunk holds behind the end of the data. */
async function* inflateRaw(source: AsyncIterator<Uint8Array>): AsyncGenerator<Uint8Array, Uint8Array> {
  const decoder = zlib.createInflateRaw();
  const step = stepper(decoder);
  let bytes = 0;
  try {
    for (;;) {
      const { done, value } = await source.next();
      if (done) break;
      bytes += value.length;
      yield* step.write(value);
      if (step.hasEnded()) return value.subarray(value.length - (bytes - decoder.bytesWritten));
    }
    yield* step.end();
    return new Uint8Array();
  } finally {
    step.close();
  }
}

async function* joined(first: Uint8Array, rest: AsyncIterator<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield first;
  yield* { [Symbol.asyncIterator]: () => rest };
}

async function* without(source: AsyncIterable<Uint8Array>, length: number): AsyncGenerator<Uint8Array> {
  let left = length;
  for await (const chunk of source) {
    const rest = chunk.subarray(left);
    left = Math.max(0, left - chunk.length);
    if (rest.length) yield rest;
  }
}

async function* through(source: AsyncIterable<Uint8Array>, decoder: Decoder): AsyncGenerator<Uint8Array> {
  const step = stepper(decoder);
  try {
    for await (const chunk of source) {
      if (!chunk.length) continue;
      yield* step.write(chunk);
      if (step.hasEnded()) return;
    }
    yield* step.end();
  } finally {
    step.close();
  }
}

interface Stepper {
  write(chunk: Uint8Array): AsyncGenerator<Uint8Array>;
  end(): AsyncGenerator<Uint8Array>;
  /** The data said that it is complete. */
  hasEnded(): boolean;
  close(): void;
}

/**
 * A decoder driven a chunk at a time, so that all it made of the data is taken before it learns, and tells, that the
 * data is cut off.
 */
function stepper(decoder: Decoder): Stepper {
  const made = createByteQueue(decoder);
  return {
    async *write(chunk) {
      let isDone = false;
      decoder.write(chunk, () => {
        isDone = true;
        made.wake();
      });
      yield* made.take(() => isDone && decoder.readableLength === 0);
    },
    async *end() {
      decoder.end();
      yield* made.take();
    },
    hasEnded: made.hasEnded,
    close: () => decoder.destroy(),
  };
}
