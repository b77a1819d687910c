/** A document: its content, metadata and nested documents (docs/reference/wire/flow.md, Documents). */
import { randomFillSync } from 'node:crypto';
import { NdArray, type NestedList, type TypedArray } from './ndarray.ts';
import { copyValue, type JsonObject, MAX_DOCUMENT_DEPTH } from './values.ts';

export interface Score {
  readonly value: number;
  readonly opName?: string;
  readonly description?: string;
  readonly refId?: string;
  readonly unknown?: readonly Uint8Array[];
}

export type Scores = Record<string, Score>;
export type ArrayLike = NdArray | TypedArray | NestedList;

/** Properties of a new document. Omitted properties are empty. At most one of text, blob and tensor may be set. */
export interface DocumentInit {
  readonly id?: string;
  readonly text?: string;
  readonly blob?: Uint8Array;
  readonly tensor?: ArrayLike;
  readonly mimeType?: string;
  readonly weight?: number;
  readonly uri?: string;
  readonly tags?: JsonObject;
  readonly offset?: number;
  readonly location?: readonly number[];
  readonly embedding?: ArrayLike;
  readonly modality?: string;
  readonly evaluations?: Scores;
  readonly scores?: Scores;
  readonly chunks?: readonly Document[];
  readonly matches?: readonly Document[];
}

const POOL_BYTES = 16 * 256;
let pool: Buffer | undefined;
let poolAt = POOL_BYTES;

/** 32 lower-case hexadecimal digits: 16 random bytes. */
export function createId(): string {
  if (poolAt === POOL_BYTES) {
    pool = randomFillSync(pool ?? Buffer.allocUnsafeSlow(POOL_BYTES));
    poolAt = 0;
  }
  poolAt += 16;
  return pool!.toString('hex', poolAt - 16, poolAt);
}

function asNdArray(value: ArrayLike): NdArray {
  if (value instanceof NdArray) return value;
  if (ArrayBuffer.isView(value)) return NdArray.fromTyped(value);
  return NdArray.fromList(value);
}

const isContent = (value: unknown): boolean =>
  value === undefined || typeof value === 'string' || value instanceof Uint8Array || value instanceof NdArray;

const NO_DOCUMENTS: readonly Document[] = Object.freeze([]) as readonly Document[];

export class Document {
  id: string;
  /** The document that this one is a chunk of. */
  parentId = '';
  /** Depth in the tree of chunks; 0 for the root. */
  granularity = 0;
  /** Distance in the tree of matches; 0 for the root. */
  adjacency = 0;
  mimeType = '';
  weight = 0;
  /** A URL, which may be a data: URI. */
  uri = '';
  tags: JsonObject = {};
  offset = 0;
  location: readonly number[] = [];
  modality = '';
  evaluations: Scores = {};
  scores: Scores = {};
  /** Sent between processes but never written to JSON. */
  metadata: JsonObject | undefined = undefined;
  /** Unknown protobuf fields, kept as received. */
  unknown: readonly Uint8Array[] | undefined = undefined;
  #content: string | Uint8Array | NdArray | undefined = undefined;
  #embedding: NdArray | undefined = undefined;
  #chunks: readonly Document[] = NO_DOCUMENTS;
  #matches: readonly Document[] = NO_DOCUMENTS;

  /** Creates a document from its properties. A string creates an empty document with that id. */
  constructor(init?: DocumentInit | string) {
    if (typeof init === 'string') {
      this.id = init;
    } else {
      this.id = init?.id || createId();
      if (init) this.#fill(init);
    }
  }

  #fill(init: DocumentInit): void {
    const given = (['text', 'blob', 'tensor'] as const).filter((key) => init[key] !== undefined);
    if (given.length > 1) throw new TypeError(`a document has one content, not both ${given[0]} and ${given[1]}`);
    if (init.text !== undefined) this.text = init.text;
    if (init.blob !== undefined) this.blob = init.blob;
    if (init.tensor !== undefined) this.tensor = init.tensor;
    if (init.mimeType !== undefined) this.mimeType = init.mimeType;
    if (init.weight !== undefined) this.weight = init.weight;
    if (init.uri !== undefined) this.uri = init.uri;
    if (init.tags !== undefined) this.tags = init.tags;
    if (init.offset !== undefined) this.offset = init.offset;
    if (init.location !== undefined) this.location = init.location;
    if (init.embedding !== undefined) this.embedding = init.embedding;
    if (init.modality !== undefined) this.modality = init.modality;
    if (init.evaluations !== undefined) this.evaluations = init.evaluations;
    if (init.scores !== undefined) this.scores = init.scores;
    if (init.chunks !== undefined) this.chunks = init.chunks;
    if (init.matches !== undefined) this.matches = init.matches;
  }

  /** The text, blob or tensor. */
  get content(): string | Uint8Array | NdArray | undefined {
    return this.#content;
  }

  set content(value: string | Uint8Array | NdArray | undefined) {
    if (!isContent(value)) throw new TypeError(`the content of a document cannot be a ${typeof value}`);
    this.#content = value;
  }

  /** The text; empty if the content is not text. Setting it clears blob and tensor. */
  get text(): string {
    return typeof this.#content === 'string' ? this.#content : '';
  }

  set text(value: string) {
    // Executors may be plain JavaScript. Fail here rather than when the document is serialized.
    if (typeof value !== 'string') throw new TypeError(`the text of a document cannot be a ${typeof value}`);
    this.#content = value;
  }

  /** The bytes. Setting them clears text and tensor. */
  get blob(): Uint8Array | undefined {
    return this.#content instanceof Uint8Array ? this.#content : undefined;
  }

  set blob(value: Uint8Array | undefined) {
    if (value !== undefined && !(value instanceof Uint8Array)) {
      throw new TypeError(`the blob of a document cannot be a ${typeof value}`);
    }
    this.#content = value;
  }

  /** The array. Setting it clears text and blob. */
  get tensor(): NdArray | undefined {
    return this.#content instanceof NdArray ? this.#content : undefined;
  }

  set tensor(value: ArrayLike | undefined) {
    this.#content = value === undefined ? undefined : asNdArray(value);
  }

  get embedding(): NdArray | undefined {
    return this.#embedding;
  }

  set embedding(value: ArrayLike | undefined) {
    this.#embedding = value === undefined ? undefined : asNdArray(value);
  }

  /** The chunks. Setting them makes this document their parent and adjusts their granularity. */
  get chunks(): readonly Document[] {
    return this.#chunks;
  }

  set chunks(documents: readonly Document[]) {
    this.#chunks = documents;
    for (const chunk of documents) {
      chunk.parentId = this.id;
      chunk.granularity = this.granularity + 1;
      updateDepths(chunk);
    }
  }

  /** The matches. Setting them adjusts their adjacency. Their granularity is kept, because a match may be a chunk. */
  get matches(): readonly Document[] {
    return this.#matches;
  }

  set matches(documents: readonly Document[]) {
    this.#matches = documents;
    for (const match of documents) {
      match.adjacency = this.adjacency + 1;
      updateDepths(match);
    }
  }

  addChunks(...documents: Document[]): void {
    this.chunks = [...this.#chunks, ...documents];
  }

  addMatches(...documents: Document[]): void {
    this.matches = [...this.#matches, ...documents];
  }

  /** Sets chunks and matches without adjusting them. For decoders, which keep documents as received. */
  keepNested(chunks: readonly Document[], matches: readonly Document[]): void {
    this.#chunks = chunks;
    this.#matches = matches;
  }
}

/** Updates parent, granularity and adjacency of all documents below `root`. */
function updateDepths(root: Document): void {
  const waiting = [root];
  for (let document = waiting.pop(); document; document = waiting.pop()) {
    for (const chunk of document.chunks) {
      const granularity = document.granularity + 1;
      if (chunk.granularity === granularity && chunk.parentId === document.id) continue;
      if (granularity > 100_000) throw new RangeError('chunks: a document is a chunk of itself');
      chunk.granularity = granularity;
      chunk.parentId = document.id;
      waiting.push(chunk);
    }
    for (const match of document.matches) {
      const adjacency = document.adjacency + 1;
      if (match.adjacency === adjacency) continue;
      if (adjacency > 100_000) throw new RangeError('matches: a document is a match of itself');
      match.adjacency = adjacency;
      waiting.push(match);
    }
  }
}

/**
 * Deep copies of documents. Only immutable parts are shared, such as texts and scores. Throws a RangeError if a
 * document contains itself.
 */
export const cloneDocuments = (documents: readonly Document[], depth = 0): Document[] =>
  documents.map((document) => cloneDocument(document, depth));

function cloneDocument(document: Document, depth: number): Document {
  if (depth > MAX_DOCUMENT_DEPTH + 1) throw new RangeError('chunks or matches are nested too deeply');
  const copy = new Document(document.id);
  copy.parentId = document.parentId;
  copy.granularity = document.granularity;
  copy.adjacency = document.adjacency;
  copy.mimeType = document.mimeType;
  copy.weight = document.weight;
  copy.uri = document.uri;
  copy.tags = copyValue(document.tags);
  copy.offset = document.offset;
  copy.location = [...document.location];
  copy.modality = document.modality;
  copy.evaluations = { ...document.evaluations };
  copy.scores = { ...document.scores };
  copy.metadata = document.metadata && copyValue(document.metadata);
  copy.unknown = document.unknown;
  const { content, embedding } = document;
  copy.content =
    content instanceof NdArray ? content.clone() : content instanceof Uint8Array ? content.slice() : content;
  copy.embedding = embedding?.clone();
  if (document.chunks.length || document.matches.length) {
    copy.keepNested(cloneDocuments(document.chunks, depth + 1), cloneDocuments(document.matches, depth + 1));
  }
  return copy;
}
