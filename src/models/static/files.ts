/** Loads the files of the built-in model from the package. */
import { open, readFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { problem } from '#errors.ts';
import { modelsFile } from '#models-package.ts';

export interface StaticFiles {
  /** The pieces of the vocabulary with their scores, by id. */
  readonly pieces: readonly string[];
  readonly scores: Float64Array;
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

/** Throws DownstreamServiceFailureError if a file is missing or invalid. */
export async function readStaticFiles(given?: URL): Promise<StaticFiles> {
  try {
    const folder = given ?? shippedFolder();
    const [tokenizer, config, rows, scales, idf] = await Promise.all([
      readFile(new URL('tokenizer.json', folder), 'utf8'),
      readFile(new URL('config.json', folder), 'utf8'),
      readWhole(new URL('embeddings.int8.bin', folder)),
      readFile(new URL('scales.f32.bin', folder)),
      readFile(new URL('idf.u8.bin', folder)),
    ]);
    const parsed = JSON.parse(config) as StaticConfig;
    const files: StaticFiles = {
      ...readVocabulary(tokenizer, parsed.vocabulary),
      config: parsed,
      rows: new Int8Array(rows.buffer, rows.byteOffset, rows.length),
      scales: readFloats(scales),
      idf,
    };
    const { vocabulary, dimensions } = files.config;
    const sizes = [rows.length / dimensions.learned, files.scales.length, idf.length, files.pieces.length];
    if (sizes.some((size) => size !== vocabulary)) throw new Error('the sizes of the files do not match');
    return files;
  } catch (error) {
    throw problem(
      'DownstreamServiceFailureError',
      { message: 'The files of the built-in model are missing or damaged' },
      error,
    );
  }
}

const shippedFolder = () => pathToFileURL(`${path.dirname(modelsFile('lectern-static-v2/config.json'))}${path.sep}`);

/**
 * Reads the vocabulary from the text of `tokenizer.json`: a list of `["piece",score]` at its end. Its pieces consist of
 * letters, marks and numbers, so nothing in them is escaped. Parsing the whole file would take most of the time of a
 * load.
 */
function readVocabulary(json: string, size: number): Pick<StaticFiles, 'pieces' | 'scores'> {
  const pieces: string[] = [];
  const scores = new Float64Array(size);
  let at = json.indexOf('[[', json.indexOf('"vocab"'));
  while (at > 0 && pieces.length < size) {
    const from = json.indexOf('"', at) + 1;
    const to = json.indexOf('"', from);
    const end = json.indexOf(']', to);
    if (from <= 0 || to < 0 || end < 0) break;
    scores[pieces.length] = Number(json.slice(to + 2, end));
    pieces.push(json.slice(from, to));
    at = end;
  }
  if (scores.some(Number.isNaN)) throw new Error('the vocabulary is not readable');
  return { pieces, scores };
}

/** Little-endian numbers, as on nearly all processors. */
function readFloats(bytes: Buffer): Float32Array {
  if (os.endianness() === 'BE') bytes.swap32();
  return new Float32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
}

/** Reads the file in one go: `readFile` does many small reads, which is slow for a large file. */
async function readWhole(file: URL): Promise<Uint8Array> {
  const handle = await open(file);
  try {
    const { size } = await handle.stat();
    const bytes = Buffer.allocUnsafeSlow(size);
    const { bytesRead } = await handle.read(bytes, 0, size, 0);
    return bytes.subarray(0, bytesRead);
  } finally {
    await handle.close();
  }
}
