/**
 * Decodes Content-Encoding as a stream. If the data is damaged, all bytes before the damage are delivered. Wrong
 * headers are handled as in browsers (docs/guide/http.md). `fetch.ts` limits the size of the result.
 */
import { isUtf8 } from 'node:buffer';
import zlib from 'node:zlib';
import { problem } from '#errors.ts';
import { peek } from './body.ts';
import { createByteQueue } from './byte-queue.ts';
import { gzipHeaderLength, isGzip } from './gzip-header.ts';
import { MAX_WINDOW_LOG, unzstd } from './zstd.ts';

type Decoder = zlib.Inflate | zlib.InflateRaw | zlib.BrotliDecompress;

// The oldest supported Node version has no zstd, and its types do not declare it.
const { createZstdDecompress } = zlib as unknown as {
  createZstdDecompress?: (options: { params: Record<number, number> }) => Decoder;
};
const { ZSTD_d_windowLogMax = 0 } = zlib.constants as { ZSTD_d_windowLogMax?: number };

/** Supported codings, for Accept-Encoding. */
export const ACCEPT_ENCODING = 'gzip, deflate, br, zstd';

/** Maximum number of codings. More than these are an attack or a mistake. */
const MAX_LAYERS = 3;

/**
 * The codings in the order in which they were applied, or `unknown` if any is unknown: browsers then decode none of
 * them.
 */
export type Codings = readonly string[] | 'unknown';

/** Returns undefined if there are too many codings. */
export function parseContentEncoding(header: string | undefined): Codings | undefined {
  const names = (header ?? '')
    .toLowerCase()
    .split(',')
    .map((name) => name.trim().replace(/^x-/, ''))
    .filter((name) => name && name !== 'identity' && name !== 'none');
  if (!names.every((name) => Object.hasOwn(DECODERS, name))) return 'unknown';
  return names.length <= MAX_LAYERS ? names : undefined;
}

export const unreadableEncoding = () =>
  problem('AssertionFailureError', { message: 'The content encoding of the target is not supported' });

/**
 * Decodes a body. Errors from the source or a decoder are thrown after all bytes that precede them. Throws
 * AssertionFailureError if the coding is unknown and the bytes are not plain text.
 */
export function decodeContent(source: AsyncIterable<Uint8Array>, codings: Codings): AsyncIterable<Uint8Array> {
  if (codings === 'unknown') return onlyPlainText(source);
  return codings.reduceRight<AsyncIterable<Uint8Array>>(
    (bytes, name) => decodeUnlessText(bytes, DECODERS[name]!),
    source,
  );
}

/** Number of bytes that are examined to distinguish plain text from encoded data. */
const SNIFFED_BYTES = 512;
const hasControls = (start: Uint8Array) => /[\x00-\x08\x0e-\x1a\x1c-\x1f]/.test(Buffer.from(start).toString('latin1'));

async function* onlyPlainText(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const { start, bytes } = await peek(source, SNIFFED_BYTES);
  if (hasControls(start)) throw unreadableEncoding();
  yield* bytes;
}

/** Some servers send the header although the content is not encoded. */
async function* decodeUnlessText(source: AsyncIterable<Uint8Array>, decode: Decode): AsyncGenerator<Uint8Array> {
  const { start, bytes } = await peek(source, SNIFFED_BYTES);
  if (start.length) yield* isText(start) ? bytes : decode(bytes);
}

/** Short encoded data may contain no control characters by chance, but then it is unlikely to be valid UTF-8. */
const isText = (start: Uint8Array) =>
  !hasControls(start) && (start.length === SNIFFED_BYTES || (start.length >= MIN_TEXT_BYTES && isUtf8(start)));
const MIN_TEXT_BYTES = 16;

type Decode = (bytes: AsyncIterable<Uint8Array>) => AsyncIterable<Uint8Array>;

const DECODERS: Record<string, Decode> = {
  gzip: ungzip,
  deflate: inflate,
  br: (bytes) => decodeWith(bytes, zlib.createBrotliDecompress()),
  zstd: (bytes) =>
    createZstdDecompress
      ? decodeWith(bytes, createZstdDecompress({ params: { [ZSTD_d_windowLogMax]: MAX_WINDOW_LOG } }))
      : unzstd(bytes),
};

/**
 * Like browsers, ignores the checksum and any data after the last member. Data without a gzip header is passed through.
 */
async function* ungzip(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const { start, bytes } = await peek(source, SNIFFED_BYTES);
  if (!isGzip(start)) return yield* bytes;
  const length = gzipHeaderLength(start);
  if (length === undefined) return yield* decodeWith(bytes, zlib.createGunzip());
  const iterator = skipBytes(bytes, length)[Symbol.asyncIterator]();
  try {
    const rest = yield* inflateRaw(iterator);
    const next = await peek(skipBytes(concat(rest, iterator), GZIP_TRAILER_BYTES), 2);
    if (next.start.length > 1 && isGzip(next.start)) yield* decodeWith(next.bytes, zlib.createGunzip());
  } finally {
    await iterator.return?.(undefined);
  }
}
/** Size of the CRC-32 and the length. */
const GZIP_TRAILER_BYTES = 8;

/** `deflate` officially means the zlib format, but some servers send raw deflate data. */
async function* inflate(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const { start, bytes } = await peek(source, 2);
  const [first = 0, second = 0] = start;
  const isZlib = (first & 0x0f) === 8 && ((first << 8) | second) % 31 === 0;
  yield* inflateRaw(skipBytes(bytes, isZlib ? ZLIB_HEADER_BYTES : 0)[Symbol.asyncIterator]());
}
const ZLIB_HEADER_BYTES = 2;

/** Returns the bytes of the last chunk that follow the end of the deflate data. */
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

async function* concat(first: Uint8Array, rest: AsyncIterator<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield first;
  yield* { [Symbol.asyncIterator]: () => rest };
}

async function* skipBytes(source: AsyncIterable<Uint8Array>, length: number): AsyncGenerator<Uint8Array> {
  let left = length;
  for await (const chunk of source) {
    const rest = chunk.subarray(left);
    left = Math.max(0, left - chunk.length);
    if (rest.length) yield rest;
  }
}

async function* decodeWith(source: AsyncIterable<Uint8Array>, decoder: Decoder): AsyncGenerator<Uint8Array> {
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
  /** Whether the decoder has reached the end of the data. */
  hasEnded(): boolean;
  close(): void;
}

/** Feeds a decoder one chunk at a time, so that all output is read before the decoder reports truncated data. */
function stepper(decoder: Decoder): Stepper {
  const output = createByteQueue(decoder);
  return {
    async *write(chunk) {
      let isDone = false;
      decoder.write(chunk, () => {
        isDone = true;
        output.wake();
      });
      yield* output.take(() => isDone && decoder.readableLength === 0);
    },
    async *end() {
      decoder.end();
      yield* output.take();
    },
    hasEnded: output.hasEnded,
    close: () => decoder.destroy(),
  };
}
