/** Finds passages of indexed documents that answer a question. */
import { createHash } from 'node:crypto';
import { Document } from '../document.ts';
import { type Call, Executor, type ExecutorClass, requests } from '../executor.ts';
import type { JsonObject } from '../values.ts';
import { openExecutorCollection } from './collection.ts';
import { readLimit, readParameters, readSettings, type Settings } from './settings.ts';
import type { BuiltInTools, Collection, FoundPassage } from './tools.ts';

const DEFAULT_LIMIT = 10;
const MAX_RESULTS = 1_000;

export function searchExecutor(open: BuiltInTools['openCollection']): ExecutorClass {
  return class Search extends Executor<Settings> {
    static override readonly requests = requests<Search>({ '/search': 'search' });

    readonly #with = readSettings(this.options, ['collection', 'limit', 'top_k', 'candidates']);
    readonly #limit = readLimit(this.#with) ?? DEFAULT_LIMIT;
    /** Minimum number of results, for a later executor to choose from. */
    readonly #candidates = this.#with.integer('candidates', 1) ?? 0;
    #collection: Collection | undefined;

    override async start(): Promise<void> {
      this.#collection = await openExecutorCollection(this.#with, this.context, open);
    }

    override async close(): Promise<void> {
      await this.#collection?.close();
    }

    /** The text of each document is the query. Its matches are replaced. */
    async search({ docs, parameters, signal }: Call): Promise<void> {
      const requested = readLimit(readParameters(parameters)) ?? this.#limit;
      const limit = Math.min(MAX_RESULTS, Math.max(requested, this.#candidates));
      for (const doc of docs) {
        signal.throwIfAborted();
        const found = doc.text.trim() === '' ? [] : await this.#collection!.search(doc.text, { limit, signal });
        doc.matches = found.map((passage) => matchOf(passage, doc.id));
      }
    }
  };
}

function matchOf({ id, url, title, heading, text, start, end, score }: FoundPassage, refId: string): Document {
  const tags: JsonObject = {};
  if (title) tags.title = title;
  if (heading) tags.heading = heading;
  const match = new Document({
    id: passageId(id, start, end),
    text,
    mimeType: 'text/markdown',
    location: [start, end],
    scores: { relevance: { value: score, opName: 'search', refId } },
    tags,
    ...(url && { uri: url }),
  });
  // A passage is a part of its document.
  match.parentId = id;
  return match;
}

/** A passage has the same id in every response. */
const passageId = (id: string, start: number, end: number): string =>
  createHash('sha256').update(`${id} ${start} ${end}`).digest('hex').slice(0, 32);
