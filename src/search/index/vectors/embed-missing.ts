/** Embeds, in the background, the passages that do not have a vector yet. */
import type { IndexEmbedder } from '../local-index.ts';
import type { IndexStore, UnembeddedRow } from '../store/index-store.ts';
import { markdownToPlainText } from '../text/plain-text.ts';
import { quantize } from './quantize.ts';

export interface MissingEmbedder {
  /** Resolves when no passage is left to embed or the model is unavailable. Concurrent calls share the work. */
  embed(): Promise<void>;
  /** Stops until `embed` is called again. */
  pause(): Promise<void>;
  /** Resets the state. Called after all passages have been removed. */
  forget(): void;
  close(): Promise<void>;
}

/** Number of passages embedded and written at once. */
const BATCH = 256;
/** Interval of messages while the vectors of another model are replaced, in passages. */
const INFORM_EVERY = 10_000;

export function createMissingEmbedder(
  store: IndexStore,
  embedder: IndexEmbedder,
  inform: (message: string) => void = () => {},
): MissingEmbedder {
  const { id: model } = embedder;
  let embeddedUpTo = 0;
  let embedding: Promise<void> | undefined;
  let again = false;
  let stopped = false;

  /** Number of passages with a vector of another model. */
  const countOutdated = async (): Promise<number> =>
    (await store.stats(undefined)).vectors - (await store.stats(model)).vectors;

  async function embedAll(): Promise<void> {
    const outdated = embeddedUpTo === 0 ? await countOutdated() : 0;
    let done = 0;
    const progress = (state: string) => {
      if (outdated > 0) inform(`embedding the local index anew with ${model}: ${state}`);
    };
    progress(`${outdated} passages; until then they are found by their words`);
    do {
      again = false;
      // Ids increase, so the ids of new passages are higher than those of embedded ones.
      let after = Math.max(0, embeddedUpTo - store.overlap);
      const last = await store.lastPassage();
      for (;;) {
        const rows = stopped ? [] : await store.withoutVector(model, after, BATCH);
        if (rows.length === 0) break;
        const vectors = await embedder.embed(rows.map(textOf), 'passage');
        await store.writeCodes(
          model,
          rows.map(({ id }, at) => ({ id, code: quantize(vectors[at]!) })),
        );
        done += rows.length;
        if (done % INFORM_EVERY < rows.length) progress(`${done} of ${outdated} passages`);
        after = rows.at(-1)!.id;
        embeddedUpTo = Math.max(embeddedUpTo, after);
      }
      // Without this, a server whose passages all have vectors from its last run would go through all at each search.
      if (!stopped) embeddedUpTo = Math.max(embeddedUpTo, last);
    } while (again && !stopped);
    if (!stopped) progress(`finished after ${done} passages`);
  }

  function embed(): Promise<void> {
    again = true;
    embedding ??= embedAll()
      // The model may be available again when the next page arrives.
      .catch(() => {})
      .finally(() => {
        embedding = undefined;
      });
    return embedding;
  }

  return {
    embed,
    async pause() {
      stopped = true;
      await embedding;
      stopped = false;
    },
    forget() {
      embeddedUpTo = 0;
    },
    async close() {
      stopped = true;
      await embedding;
    },
  };
}

const textOf = ({ title, heading, text }: UnembeddedRow): string =>
  [title, heading, markdownToPlainText(text)].filter((part) => part !== '').join('\n');
