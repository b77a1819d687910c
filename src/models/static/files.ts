/** Loads the files of the built-in model from the package. */
import { open, readFile } from 'node:fs/promises';
import { problem } from '#errors.ts';

export interface StaticFiles {
  readonly tokenizer: {
    /** Each piece with its score. */
    readonly model: { readonly vocab: readonly (readonly [piece: string, score: number])[] };
  };
  readonly config: StaticConfig;
  /** Row-major, vocabulary x learned dimensions. */
  readonly rows: Int8Array;
  /** Scaling factor of each row. */
  readonly scales: Float32Array;
  /** The idf of each piece, times `hashed.idf_steps`. */
  readonly idf: Uint8Array;
}

export interface StaticConfig {
  readonly vocabulary: number;
  readonly dimensions: { readonly learned: number; readonly hashed: number };
  /** Weights of the two parts in the whole vector. */
  readonly weights: { readonly learned: number; readonly hashed: number };
  readonly hashed: {
    /** Weight of an n-gram of a word, and the lengths of n-grams. */
    readonly gram: number;
    readonly grams: readonly number[];
    /** Weights of the windows of a run, by length. */
    readonly windows: readonly number[];
    /** Idf of a window and of a word that is no piece. */
    readonly window_unseen: number;
    readonly unseen: number;
    readonly idf_steps: number;
  };
}

/** The relative path is the same for the sources and for the build. */
const FOLDER = new URL('../../../assets/lectern-static-v2/', import.meta.url);

/** Throws DownstreamServiceFailureError if a file is missing or invalid. */
export async function readStaticFiles(folder: URL = FOLDER): Promise<StaticFiles> {
  try {
    const [tokenizer, config, rows, scales, idf] = await Promise.all([
      readFile(new URL('tokenizer.json', folder), 'utf8'),
      readFile(new URL('config.json', folder), 'utf8'),
      readWhole(new URL('embeddings.int8.bin', folder)),
      readFile(new URL('scales.f32.bin', folder)),
      readFile(new URL('idf.u8.bin', folder)),
    ]);
    const files: StaticFiles = {
      tokenizer: JSON.parse(tokenizer) as StaticFiles['tokenizer'],
      config: JSON.parse(config) as StaticConfig,
      rows: new Int8Array(rows.buffer, rows.byteOffset, rows.length),
      scales: readFloats(scales),
      idf,
    };
    const { vocabulary, dimensions } = files.config;
    const sizes = [
      rows.length / dimensions.learned,
      files.scales.length,
      idf.length,
      files.tokenizer.model.vocab.length,
    ];
    if (sizes.some((size) => size !== vocabulary)) throw new Error('the sizes of the files do not match');
    return files;
  } catch (error) {
    throw problem('DownstreamServiceFailureError', { message: 'The files of the built-in model are damaged' }, error);
  }
}

function readFloats(bytes: Buffer): Float32Array {
  const floats = new Float32Array(bytes.length / 4);
  for (let at = 0; at < floats.length; at++) floats[at] = bytes.readFloatLE(at * 4);
  return floats;
}

/** Reads the file in one go: `readFile` does many small reads, which is slow for a large file. */
async function readWhole(file: URL): Promise<Uint8Array> {
  const handle = await open(file);
  try {
    const { size } = await handle.stat();
    const bytes = new Uint8Array(size);
    const { bytesRead } = await handle.read(bytes, 0, size, 0);
    return bytes.subarray(0, bytesRead);
  } finally {
    await handle.close();
  }
}
