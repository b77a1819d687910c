/** An engine that reports how long the fetches of another engine took. */
import { Problem, type ProblemName } from '#errors.ts';
import type { Engine } from './engine.ts';

/** Called after each visit that fetched something. `failed` if nothing was captured. */
export type OnFetched = (host: string, ms: number, failed: boolean) => void;

/** Failures before the host was contacted, or of this server. */
const NOT_OF_HOST: readonly ProblemName[] = [
  'SecurityCompromiseError',
  'ServiceNodeResourceDrainError',
  'ParamValidationError',
];

export function timedEngine(engine: Engine, onFetched: OnFetched): Engine {
  return {
    name: engine.name,
    close: () => engine.close(),
    async *visit(visit) {
      if (visit.html !== undefined && visit.fetchedResponse === undefined) return yield* engine.visit(visit);
      let ms = 0;
      let captured = false;
      let isOfHost = true;
      const snapshots = engine.visit(visit)[Symbol.asyncIterator]();
      try {
        for (;;) {
          // The time that the caller takes between two snapshots does not count.
          const since = performance.now();
          const { done, value } = await snapshots.next().finally(() => {
            ms += performance.now() - since;
          });
          if (done) return;
          captured = true;
          yield value;
        }
      } catch (error) {
        isOfHost = !visit.signal.aborted && !(error instanceof Problem && NOT_OF_HOST.includes(error.name));
        throw error;
      } finally {
        await snapshots.return?.();
        if (captured || isOfHost) onFetched(new URL(visit.url).host, ms, !captured);
      }
    },
  };
}
