/**
 * Reads and writes documents of generations 1 and 2 (docs/reference/wire/flow.md, Old messages). Their field numbers
 * differ from those of `document.ts`. The two generations differ in few fields, whose numbers do not overlap.
 */
import { createHash } from 'node:crypto';
import { problem } from '#errors.ts';
import { setOwnValue } from '#own-value.ts';
import { createId, Document, type Score, type Scores } from '../document.ts';
import { NdArray } from '../ndarray.ts';
import { MAX_DOCUMENT_DEPTH } from '../values.ts';
import { readNdArray, writeNdArray } from './ndarray.ts';
import { readStruct, writeStruct } from './struct.ts';
import {
  BYTES,
  createReader,
  FIXED32,
  type FieldReaders,
  openNested,
  type Reader,
  readNested,
  tagOf,
  VARINT,
  type Writer,
  writeFloat,
  writeText,
  writeUint,
} from './wire.ts';

/** The generation of an old message: 1 (1.1.5) or 2. */
export type OldGeneration = 1 | 2;

type WritableScore = { -readonly [K in keyof Score]: Score[K] };

const SCORE: FieldReaders<WritableScore> = {
  [tagOf(1, FIXED32)]: (reader, score) => {
    score.value = reader.float();
  },
  [tagOf(2, BYTES)]: (reader, score) => {
    score.opName = reader.string();
  },
  [tagOf(3, BYTES)]: (reader, score) => {
    score.description = reader.string();
  },
  [tagOf(5, BYTES)]: (reader, score) => {
    score.refId = reader.string();
  },
};

function readScore(reader: Reader, depth: number): Score {
  const score: WritableScore = { value: 0 };
  readNested(reader, score, SCORE, depth);
  return score;
}

const SCORE_ENTRY: FieldReaders<{ key: string; score: Score }> = {
  [tagOf(1, BYTES)]: (reader, entry) => {
    entry.key = reader.string();
  },
  [tagOf(2, BYTES)]: (reader, entry, depth) => {
    entry.score = readScore(reader, depth);
  },
};

function readScoreEntry(reader: Reader, scores: Scores, depth: number): void {
  const entry: { key: string; score: Score } = { key: '', score: { value: 0 } };
  readNested(reader, entry, SCORE_ENTRY, depth);
  setOwnValue(scores, entry.key, entry.score);
}

const QUANTIZATION = tagOf(4, VARINT);

/** The numbers in quantized arrays do not have the type that `dtype` specifies, and executors could not detect that. */
function checkNotQuantized(array: NdArray): void {
  for (const bytes of array.dense?.unknown ?? []) {
    const reader = createReader(bytes);
    if (reader.uint32() === QUANTIZATION && reader.uint32() !== 0) {
      throw problem('SubmittedDataMalformedError', { message: 'Quantized arrays are not supported' });
    }
  }
}

/** Field numbers of arrays are the same in every generation. The oldest arrays have no `cls_name`. */
function readArray(reader: Reader, depth: number): NdArray {
  const array = readNdArray(reader, depth);
  checkNotQuantized(array);
  const rest = { clsName: array.clsName || 'numpy', parameters: array.parameters };
  return array.sparse ? NdArray.fromSparse(array.sparse, rest) : NdArray.fromDense(array.dense!, rest);
}

/** A document being read. Its lists are set once they are complete. */
interface Reading {
  readonly document: Document;
  readonly level: number;
  chunks?: Document[];
  matches?: Document[];
  location?: number[];
}

const DOCUMENT: FieldReaders<Reading> = {
  [tagOf(1, BYTES)]: (reader, { document }) => {
    document.id = reader.string();
  },
  [tagOf(3, BYTES)]: (reader, { document }) => {
    document.content = reader.bytes();
  },
  [tagOf(4, BYTES)]: (reader, reading, depth) => {
    reading.chunks ??= [];
    reading.chunks.push(readOldDocument(reader, depth, reading.level + 1));
  },
  [tagOf(5, FIXED32)]: (reader, { document }) => {
    document.weight = reader.float();
  },
  [tagOf(8, BYTES)]: (reader, reading, depth) => {
    reading.matches ??= [];
    reading.matches.push(readOldDocument(reader, depth, reading.level + 1));
  },
  [tagOf(9, BYTES)]: (reader, { document }) => {
    document.uri = reader.string();
  },
  [tagOf(10, BYTES)]: (reader, { document }) => {
    document.mimeType = reader.string();
  },
  [tagOf(11, BYTES)]: (reader, { document }) => {
    readStruct(reader, document.tags);
  },
  [tagOf(12, BYTES)]: (reader, { document }, depth) => {
    document.content = readArray(reader, depth);
  },
  [tagOf(13, BYTES)]: (reader, { document }) => {
    document.content = reader.string();
  },
  [tagOf(14, VARINT)]: (reader, { document }) => {
    document.granularity = reader.uint32();
  },
  [tagOf(16, BYTES)]: (reader, { document }) => {
    document.parentId = reader.string();
  },
  [tagOf(17, VARINT)]: (reader, reading) => {
    reading.location ??= [];
    reading.location.push(reader.uint32());
  },
  [tagOf(17, BYTES)]: (reader, reading) => {
    reading.location ??= [];
    const end = reader.uint32() + reader.pos;
    while (reader.pos < end) reading.location.push(reader.uint32());
  },
  [tagOf(18, VARINT)]: (reader, { document }) => {
    document.offset = reader.uint32();
  },
  [tagOf(19, BYTES)]: (reader, { document }, depth) => {
    document.embedding = readArray(reader, depth);
  },
  [tagOf(20, BYTES)]: (reader, { document }, depth) => {
    const score = readScore(reader, depth);
    setOwnValue(document.scores, score.opName || 'score', score);
  },
  [tagOf(21, BYTES)]: (reader, { document }) => {
    document.modality = reader.string();
  },
  [tagOf(22, VARINT)]: (reader, { document }) => {
    document.adjacency = reader.uint32();
  },
  [tagOf(23, BYTES)]: (reader, { document }, depth) => {
    const score = readScore(reader, depth);
    setOwnValue(document.evaluations, score.opName || String(Object.keys(document.evaluations).length), score);
  },
  [tagOf(28, BYTES)]: (reader, { document }, depth) => readScoreEntry(reader, document.scores, depth),
  [tagOf(29, BYTES)]: (reader, { document }, depth) => readScoreEntry(reader, document.evaluations, depth),
};

/**
 * Reads a document of either generation. Unknown fields are dropped, because they would have a different meaning in
 * messages of the current generation.
 */
export function readOldDocument(reader: Reader, depth = 0, level = 0): Document {
  if (level > MAX_DOCUMENT_DEPTH) throw new RangeError('documents are nested too deeply');
  const reading: Reading = { document: new Document(''), level };
  readNested(reader, reading, DOCUMENT, depth);
  const { document, chunks, matches, location } = reading;
  if (!document.id) document.id = createId();
  if (location) document.location = location;
  if (chunks || matches) document.keepNested(chunks ?? [], matches ?? []);
  return document;
}

/** The hash of a document's content in generation 1: 16 hexadecimal digits. */
export function contentHash({ content }: Document): string {
  const isPlain = content === undefined || typeof content === 'string' || content instanceof Uint8Array;
  return createHash('blake2b512')
    .update(isPlain ? (content ?? '') : content.buffer)
    .digest('hex')
    .slice(0, 16);
}

function writeScore(writer: Writer, number: number, score: Score, name: string): void {
  openNested(writer, number);
  writeFloat(writer, 1, score.value);
  writeText(writer, 2, score.opName || name);
  writeText(writer, 3, score.description ?? '');
  writeText(writer, 5, score.refId ?? '');
  writer.ldelim();
}

/** Generation 1 has one score and a list of evaluations. */
function writeScores(writer: Writer, { scores, evaluations }: Document, generation: OldGeneration): void {
  if (generation === 1) {
    const [first] = Object.entries(scores);
    if (first) writeScore(writer, 20, first[1], first[0]);
    for (const [name, score] of Object.entries(evaluations)) writeScore(writer, 23, score, name);
    return;
  }
  for (const [number, entries] of [
    [28, scores],
    [29, evaluations],
  ] as const) {
    for (const [name, score] of Object.entries(entries)) {
      openNested(writer, number);
      writeText(writer, 1, name);
      writeScore(writer, 2, score, '');
      writer.ldelim();
    }
  }
}

/**
 * A member of a oneof is written even when empty, because an empty member that is set differs from one that is not set.
 */
function writeContent(writer: Writer, content: Document['content']): void {
  if (content === undefined) return;
  if (typeof content === 'string') writer.uint32(tagOf(13, BYTES)).string(content);
  else if (content instanceof NdArray) writeNdArray(writer, 12, content);
  else writer.uint32(tagOf(3, BYTES)).bytes(content);
}

function writeLocation(writer: Writer, location: readonly number[]): void {
  if (location.length === 0) return;
  openNested(writer, 17);
  for (const one of location) writer.uint32(Math.trunc(one));
  writer.ldelim();
}

/** Writes a document as field `number`. Throws a RangeError when documents are nested too deeply. */
export function writeOldDocument(
  writer: Writer,
  number: number,
  document: Document,
  generation: OldGeneration,
  level = 0,
): void {
  if (level > MAX_DOCUMENT_DEPTH + 1) throw new RangeError('documents are nested too deeply');
  openNested(writer, number);
  writeText(writer, 1, document.id);
  writeContent(writer, document.content);
  for (const chunk of document.chunks) writeOldDocument(writer, 4, chunk, generation, level + 1);
  writeFloat(writer, 5, document.weight);
  for (const match of document.matches) writeOldDocument(writer, 8, match, generation, level + 1);
  writeText(writer, 9, document.uri);
  writeText(writer, 10, document.mimeType);
  if (Object.keys(document.tags).length > 0) writeStruct(writer, 11, document.tags);
  writeUint(writer, 14, document.granularity);
  writeText(writer, 16, document.parentId);
  writeLocation(writer, document.location);
  writeUint(writer, 18, Math.trunc(document.offset));
  if (document.embedding) writeNdArray(writer, 19, document.embedding);
  writeScores(writer, document, generation);
  writeText(writer, 21, document.modality);
  writeUint(writer, 22, document.adjacency);
  if (generation === 1) writeText(writer, 24, contentHash(document));
  writer.ldelim();
}
