/** Reads and writes docarray.DocumentProto. */
import { setOwnValue } from '#own-value.ts';
import { createId, Document, type Score, type Scores } from '../document.ts';
import { NdArray } from '../ndarray.ts';
import { MAX_DOCUMENT_DEPTH } from '../values.ts';
import { readNdArray, writeNdArray } from './ndarray.ts';
import { readStruct, writeStruct } from './struct.ts';
import {
  BYTES,
  FIXED32,
  FIXED64,
  type FieldReaders,
  needsDouble,
  openNested,
  type Reader,
  readNested,
  tagOf,
  VARINT,
  type Writer,
  writeFloat,
  writeText,
  writeUint,
  writeUnknown,
} from './wire.ts';

type WritableScore = { -readonly [K in keyof Score]: Score[K] };

const SCORE: FieldReaders<WritableScore> = {
  [tagOf(1, FIXED32)]: (reader, score) => {
    score.value = reader.float();
  },
  [tagOf(1, FIXED64)]: (reader, score) => {
    score.value = reader.double();
  },
  [tagOf(2, BYTES)]: (reader, score) => {
    score.opName = reader.string();
  },
  [tagOf(3, BYTES)]: (reader, score) => {
    score.description = reader.string();
  },
  [tagOf(4, BYTES)]: (reader, score) => {
    score.refId = reader.string();
  },
};

const SCORE_ENTRY: FieldReaders<{ key: string; score: WritableScore }> = {
  [tagOf(1, BYTES)]: (reader, entry) => {
    entry.key = reader.string();
  },
  [tagOf(2, BYTES)]: (reader, entry, depth) => {
    const unknown = readNested(reader, entry.score, SCORE, depth);
    if (unknown) entry.score.unknown = unknown;
  },
};

function readScore(reader: Reader, scores: Scores, depth: number): void {
  const entry = { key: '', score: { value: 0 } };
  readNested(reader, entry, SCORE_ENTRY, depth);
  setOwnValue<Score>(scores, entry.key, entry.score);
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
  [tagOf(2, BYTES)]: (reader, { document }) => {
    document.content = reader.bytes();
  },
  [tagOf(3, BYTES)]: (reader, { document }, depth) => {
    document.content = readNdArray(reader, depth);
  },
  [tagOf(4, BYTES)]: (reader, { document }) => {
    document.content = reader.string();
  },
  [tagOf(5, VARINT)]: (reader, { document }) => {
    document.granularity = reader.uint32();
  },
  [tagOf(6, VARINT)]: (reader, { document }) => {
    document.adjacency = reader.uint32();
  },
  [tagOf(7, BYTES)]: (reader, { document }) => {
    document.parentId = reader.string();
  },
  [tagOf(8, FIXED32)]: (reader, { document }) => {
    document.weight = reader.float();
  },
  [tagOf(8, FIXED64)]: (reader, { document }) => {
    document.weight = reader.double();
  },
  [tagOf(9, BYTES)]: (reader, { document }) => {
    document.uri = reader.string();
  },
  [tagOf(10, BYTES)]: (reader, { document }) => {
    document.modality = reader.string();
  },
  [tagOf(11, BYTES)]: (reader, { document }) => {
    document.mimeType = reader.string();
  },
  [tagOf(12, FIXED32)]: (reader, { document }) => {
    document.offset = reader.float();
  },
  [tagOf(12, FIXED64)]: (reader, { document }) => {
    document.offset = reader.double();
  },
  [tagOf(13, FIXED32)]: (reader, reading) => {
    reading.location ??= [];
    reading.location.push(reader.float());
  },
  [tagOf(13, FIXED64)]: (reader, reading) => {
    reading.location ??= [];
    reading.location.push(reader.double());
  },
  [tagOf(13, BYTES)]: (reader, reading) => {
    reading.location ??= [];
    const end = reader.uint32() + reader.pos;
    while (reader.pos < end) reading.location.push(reader.float());
  },
  [tagOf(14, BYTES)]: (reader, reading, depth) => {
    reading.chunks ??= [];
    reading.chunks.push(readDocument(reader, depth, reading.level + 1));
  },
  [tagOf(15, BYTES)]: (reader, reading, depth) => {
    reading.matches ??= [];
    reading.matches.push(readDocument(reader, depth, reading.level + 1));
  },
  [tagOf(16, BYTES)]: (reader, { document }, depth) => {
    document.embedding = readNdArray(reader, depth);
  },
  [tagOf(17, BYTES)]: (reader, { document }) => {
    readStruct(reader, document.tags);
  },
  [tagOf(18, BYTES)]: (reader, { document }, depth) => readScore(reader, document.scores, depth),
  [tagOf(19, BYTES)]: (reader, { document }, depth) => readScore(reader, document.evaluations, depth),
  [tagOf(20, BYTES)]: (reader, { document }) => {
    document.metadata = readStruct(reader, document.metadata);
  },
};

/** Reads a document as received, without adjusting nested documents. A missing id is generated. */
export function readDocument(reader: Reader, depth = 0, level = 0): Document {
  if (level > MAX_DOCUMENT_DEPTH) throw new RangeError('documents are nested too deeply');
  const reading: Reading = { document: new Document(''), level };
  const unknown = readNested(reader, reading, DOCUMENT, depth);
  const { document, chunks, matches, location } = reading;
  if (!document.id) document.id = createId();
  if (unknown) document.unknown = unknown;
  if (location) document.location = location;
  if (chunks || matches) document.keepNested(chunks ?? [], matches ?? []);
  return document;
}

const isEmpty = (record: object): boolean => {
  for (const _ in record) return false;
  return true;
};

function writeScores(writer: Writer, number: number, scores: Scores): void {
  for (const name of Object.keys(scores)) {
    const { value, opName = '', description = '', refId = '', unknown } = scores[name]!;
    openNested(writer, number);
    writeText(writer, 1, name);
    openNested(writer, 2);
    writeFloat(writer, 1, value);
    writeText(writer, 2, opName);
    writeText(writer, 3, description);
    writeText(writer, 4, refId);
    writeUnknown(writer, unknown);
    writer.ldelim().ldelim();
  }
}

/**
 * A member of a oneof is written even when empty, because an empty member that is set differs from one that is not set.
 */
function writeContent(writer: Writer, content: Document['content']): void {
  if (content === undefined) return;
  if (typeof content === 'string') writer.uint32(tagOf(4, BYTES)).string(content);
  else if (content instanceof NdArray) writeNdArray(writer, 3, content);
  else writer.uint32(tagOf(2, BYTES)).bytes(content);
}

function writeLocation(writer: Writer, location: readonly number[]): void {
  if (location.length === 0) return;
  if (location.some((number) => needsDouble(writer, number))) {
    for (const number of location) writer.uint32(tagOf(13, FIXED64)).double(number);
    return;
  }
  openNested(writer, 13);
  for (const number of location) writer.float(number);
  writer.ldelim();
}

/** Writes a document as field `number`. Throws a RangeError when documents are nested too deeply. */
export function writeDocument(writer: Writer, number: number, document: Document, level = 0): void {
  if (level > MAX_DOCUMENT_DEPTH + 1) throw new RangeError('documents are nested too deeply');
  openNested(writer, number);
  writeText(writer, 1, document.id);
  writeContent(writer, document.content);
  writeUint(writer, 5, document.granularity);
  writeUint(writer, 6, document.adjacency);
  writeText(writer, 7, document.parentId);
  writeFloat(writer, 8, document.weight);
  writeText(writer, 9, document.uri);
  writeText(writer, 10, document.modality);
  writeText(writer, 11, document.mimeType);
  writeFloat(writer, 12, document.offset);
  writeLocation(writer, document.location);
  for (const chunk of document.chunks) writeDocument(writer, 14, chunk, level + 1);
  for (const match of document.matches) writeDocument(writer, 15, match, level + 1);
  if (document.embedding) writeNdArray(writer, 16, document.embedding);
  if (!isEmpty(document.tags)) writeStruct(writer, 17, document.tags);
  writeScores(writer, 18, document.scores);
  writeScores(writer, 19, document.evaluations);
  if (document.metadata) writeStruct(writer, 20, document.metadata);
  writeUnknown(writer, document.unknown);
  writer.ldelim();
}
