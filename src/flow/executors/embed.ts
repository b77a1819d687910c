/** Embeds documents. */
import type { Document } from '../document.ts';
import { type Call, Executor, type ExecutorClass, requests } from '../executor.ts';
import { readParameters, readSettings, type Settings } from './settings.ts';
import type { BuiltInTools } from './tools.ts';

const TARGETS = ['auto', 'documents', 'chunks'] as const;
type Target = (typeof TARGETS)[number];
const SIDES = ['query', 'passage'] as const;

export function embedExecutor(embed: BuiltInTools['embed']): ExecutorClass {
  return class Embed extends Executor<Settings> {
    static override readonly requests = requests<Embed>({ '/default': 'embed' });

    readonly #with = readSettings(this.options, ['model', 'side', 'dimensions', 'of']);
    readonly #model = this.#with.string('model');
    readonly #side = this.#with.choice('side', SIDES);
    readonly #dimensions = this.#with.integer('dimensions', 1);
    readonly #of = this.#with.choice('of', TARGETS) ?? 'auto';

    async embed({ docs, endpoint, parameters, signal }: Call): Promise<void> {
      const requested = readParameters(parameters);
      const dimensions = requested.integer('dimensions', 1) ?? this.#dimensions;
      // At /search the texts are queries; at all other endpoints they are passages.
      const side = this.#side ?? (endpoint === '/search' ? 'query' : 'passage');
      const targets = targetsOf(docs, this.#of);
      if (targets.length === 0) return;
      const texts = targets.map(({ text }) => text);
      const vectors = await embed(texts, { model: this.#model, side, dimensions, signal });
      for (const [at, target] of targets.entries()) target.embedding = vectors[at]!;
    }
  };
}

/** `auto` embeds a document's chunks if it has any, else the document itself. */
function targetsOf(docs: readonly Document[], of: Target): Document[] {
  const all = docs.flatMap((doc) => {
    const ofChunks = of === 'chunks' || (of === 'auto' && doc.chunks.length > 0);
    return ofChunks ? doc.chunks : [doc];
  });
  return all.filter(({ text }) => text !== '');
}
