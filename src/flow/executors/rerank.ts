/** Sorts the matches of each document by their relevance to the document's text. */
import type { Document } from '../document.ts';
import { type Call, Executor, type ExecutorClass, requests } from '../executor.ts';
import { readLimit, readParameters, readSettings, type Settings } from './settings.ts';
import type { BuiltInTools } from './tools.ts';

export function rerankExecutor(rerank: BuiltInTools['rerank']): ExecutorClass {
  return class Rerank extends Executor<Settings> {
    static override readonly requests = requests<Rerank>({ '/search': 'rerank', '/rerank': 'rerank' });

    readonly #with = readSettings(this.options, ['model', 'limit', 'top_k']);
    readonly #model = this.#with.string('model');
    readonly #limit = readLimit(this.#with);

    async rerank({ docs, parameters, signal }: Call): Promise<void> {
      const limit = readLimit(readParameters(parameters)) ?? this.#limit;
      for (const doc of docs) {
        if (doc.text === '' || doc.matches.length === 0) continue;
        const { matches } = doc;
        const scores = await rerank(
          doc.text,
          matches.map(({ text }) => text),
          { model: this.#model, signal },
        );
        doc.matches = sortByScore(doc, scores).slice(0, limit);
      }
    }
  };
}

/** Documents with equal scores keep their order. */
function sortByScore({ id, matches }: Document, scores: readonly number[]): Document[] {
  return matches
    .map((match, at) => ({ match, score: scores[at]! }))
    .sort((a, b) => b.score - a.score)
    .map(({ match, score }) => {
      match.scores = { ...match.scores, relevance: { value: score, opName: 'rerank', refId: id } };
      return match;
    });
}
