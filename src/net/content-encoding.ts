/** Undoes Content-Encoding as the bytes come, and keeps every byte that could be decoded before the data went wrong. */
import zlib from 'node:zlib';
import { intake } from './intake.ts';
import { MAX_WINDOW_LOG, unzstd } from './zstd.ts';

type Decoder = zlib.Gunzip | zlib.Inflate | zlib.InflateRaw | zlib.BrotliDecompress;

// Later Nodes have zstd; the oldest that we support has not, nor have its types.
const { createZstdDecompress } = zlib as unknown as {
  createZstdDecompress?: (options: { params: Record<number, number> }) => Decoder;
};
const { ZSTD_d_windowLogMax = 0 } = zlib.constants as { ZSTD_d_windowLogMax?: number };

/** What may be asked for in Accept-Encoding. */
export const ACCEPT_ENCODING = 'gzip, deflate, br, zstd';

/** More layers than this are an attack or a mistake. */
const MAX_LAYERS = 3;

/** The codings in the order in which they were applied; undefined when one is unknown to us. */
export function parseContentEncoding(header: string | undefined): readonly string[] | undefined {
  const names = (header ?? '')
    .toLowerCase()
    .split(',')
    .map((name) => name.trim().replace(/^x-/, ''))
    .filter((name) => name && name !== 'identity' && name !== 'none');
  return names.every((name) => Object.hasOwn(STARTERS, name)) && names.length <= MAX_LAYERS ? names : undefined;
}

/** Throws what the source or a decoder throws, after all bytes before it have been given. */
export function decoded(source: AsyncIterable<Uint8Array>, encodings: readonly string[]): AsyncIterable<Uint8Array> {
  return encodings.reduceRight<AsyncIterable<Uint8Array>>(
    (bytes, name) => (name === 'zstd' && !createZstdDecompress ? unzstd(bytes) : through(bytes, STARTERS[name]!)),
    source,
  );
}

/** A decoder for data that starts with these bytes; undefined: the bytes are not encoded, whatever the header says. */
type Starter = (start: Uint8Array) => Decoder | undefined;

const STARTERS: Record<string, Starter> = {
  gzip: ([first, second]) => (first === 0x1f && (second ?? 0x8b) === 0x8b ? zlib.createGunzip() : undefined),
  // The word means zlib's format, but servers send bare deflate under it as well.
  deflate: ([first = 0]) => ((first & 0x0f) === 8 ? zlib.createInflate() : zlib.createInflateRaw()),
  br: () => zlib.createBrotliDecompress(),
  zstd: () => createZstdDecompress!({ params: { [ZSTD_d_windowLogMax]: MAX_WINDOW_LOG } }),
};

async function* through(source: AsyncIterable<Uint8Array>, start: Starter): AsyncGenerator<Uint8Array> {
  let step: Stepper | undefined;
  let isPlain = false;
  try {
    for await (const chunk of source) {
      if (!chunk.length) continue;
      if (!step && !isPlain) {
        const decoder = start(chunk);
        if (decoder) step = stepper(decoder);
        else isPlain = true;
      }
      if (!step) yield chunk;
      else {
        yield* step.write(chunk);
        if (step.hasEnded()) return;
      }
    }
    if (step) yield* step.end();
  } finally {
    step?.close();
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
  const made = intake(decoder);
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
