/** The models that must stay in memory: loads them with retries, and reports whether all of them are ready. */
import { unlessAborted } from '#concurrency/deadline.ts';
import type { ModelRow } from './catalogue.ts';
import type { LoadState } from './model-memory.ts';

export interface Readiness {
  readonly ready: boolean;
  /** The load states of required models, and of other models that are loaded. */
  readonly models: Readonly<Record<string, LoadState>>;
  readonly reason?: string;
}

export interface RequiredModels {
  /** Loads models that must stay in memory. Failures are retried with back-off. */
  load(rows: readonly ModelRow[]): void;
  readiness(): Readiness;
}

export interface RequiredModelsOptions {
  readonly load: (row: ModelRow, signal: AbortSignal) => Promise<void>;
  readonly residence: (row: ModelRow) => LoadState;
  /** All models used so far, by id. Required models are added to it. */
  readonly rows: Map<string, ModelRow>;
  /** Aborted when the server stops. */
  readonly signal: AbortSignal;
}

const FIRST_RETRY_MS = 1_000;
const LAST_RETRY_MS = 60_000;

export function createRequiredModels({ load, residence, rows, signal }: RequiredModelsOptions): RequiredModels {
  const required = new Set<string>();
  /**
   * Required models that have been loaded once. If one is evicted in favour of another model, it is reloaded on use.
   */
  const loadedOnce = new Set<string>();

  async function loadWithRetries(row: ModelRow): Promise<void> {
    for (let pauseMs = FIRST_RETRY_MS; !signal.aborted; pauseMs = Math.min(pauseMs * 2, LAST_RETRY_MS)) {
      try {
        await load(row, signal);
        loadedOnce.add(row.id);
        return;
      } catch {
        if (signal.aborted) return;
      }
      await pause(pauseMs, signal);
    }
  }

  return {
    load(wanted) {
      for (const row of wanted) {
        required.add(row.id);
        rows.set(row.id, row);
        void loadWithRetries(row);
      }
    },
    readiness() {
      const models: Record<string, LoadState> = {};
      for (const row of rows.values()) {
        const state = residence(row);
        if (required.has(row.id) || state !== 'asleep') models[row.id] = state;
      }
      const missing = [...required].filter((id) => models[id] !== 'loaded' && !loadedOnce.has(id));
      if (!missing.length) return { ready: true, models };
      const failed = missing.filter((id) => models[id] === 'failed');
      const reason = failed.length ? `could not be loaded: ${failed.join(', ')}` : `loading: ${missing.join(', ')}`;
      return { ready: false, models, reason };
    },
  };
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await unlessAborted(signal, over).catch(() => {});
  clearTimeout(timer);
}
