/** Opens the local index of a server. The index engine runs in its own thread. */
import { Worker } from 'node:worker_threads';
import { threadMemory } from '#concurrency/thread-memory.ts';
import { DatabaseUnavailableError } from '#storage/database/unavailable.ts';
import type { Log } from '#telemetry/log.ts';
import type { Engine } from './engine.ts';
import type { IndexEmbedder, LocalIndex, Retriever } from './local-index.ts';
import { createRpcClient, type Port, type RpcClient, serveRpc } from './port-rpc.ts';
import { RERANKED_PAGES, toHits } from './query/to-hits.ts';
import type { IndexThreadData } from './thread.ts';

export interface LocalIndexOptions {
  /** Path of the SQLite file. */
  readonly file: string;
  /** URL of a store, `postgres://…` or `opensearch+https://…`. If set, the index is stored there instead. */
  readonly url?: string | undefined;
  /** The schema for the tables, in PostgreSQL. Default: the first of the search path. */
  readonly schema?: string | undefined;
  /** Approximate maximum size of the index, in bytes. */
  readonly maxBytes: number;
  readonly embedder?: IndexEmbedder | undefined;
  readonly log?: Pick<Log, 'warn' | 'info'> | undefined;
}

const BOTH: readonly Retriever[] = ['words', 'meaning'];
const THREAD_MEMORY_MB = 1_024;

/** An index that is being opened. Its methods wait for that. */
export interface OpeningIndex {
  readonly index: LocalIndex;
  /** Rejects if the file or the database cannot be used. */
  readonly opened: Promise<void>;
}

/** Begins to open an index. Its thread starts meanwhile. */
export function startLocalIndex(options: LocalIndexOptions): OpeningIndex {
  const { engine, opened } = startThread(options);
  // The failure belongs to the caller, who may wait for it later.
  opened.catch(() => {});
  return { index: localIndexOver(engine), opened };
}

/** Rejects if the file or the database cannot be used. */
export async function openLocalIndex(options: LocalIndexOptions): Promise<LocalIndex> {
  const { index, opened } = startLocalIndex(options);
  await opened;
  return index;
}

/** Wraps an engine, in any thread, as a LocalIndex. */
export function localIndexOver(engine: Engine): LocalIndex {
  return {
    add: (page) => engine.add(page),
    remove: (url) => engine.remove(url),
    urlsAmong: (urls) => engine.urlsAmong(urls),
    async search(query, { signal, rerank, by = BOTH, owners } = {}) {
      signal?.throwIfAborted();
      // The index contains only web pages.
      if (query.kind !== 'web') return [];
      const found = await unlessAborted(
        engine.find(query, { by, owners, minPages: rerank ? RERANKED_PAGES : 0 }),
        signal,
      );
      return toHits(query, found, { signal, rerank });
    },
    flush: () => engine.flush(),
    stats: () => engine.stats(),
    prune: (maxBytes) => engine.prune(maxBytes),
    clear: () => engine.clear(),
    close: () => engine.close(),
  };
}

async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return work;
  let onAbort: (() => void) | undefined;
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => reject(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener('abort', onAbort!);
  }
}

/** The methods that the main thread can call in this thread. */
interface ThreadMethods extends Engine {
  /** Resolves when the store is open. */
  opened(): Promise<void>;
}

interface Running {
  readonly rpc: RpcClient<ThreadMethods>;
  readonly worker: Worker;
}

/** Runs an engine in a thread. If the thread dies, the next call starts a new one. */
function startThread({ file, url, schema, maxBytes, embedder, log }: LocalIndexOptions) {
  const data: IndexThreadData = {
    file,
    url,
    schema,
    maxBytes,
    embedder: embedder && {
      id: embedder.id,
      dimensions: embedder.dimensions,
      spread: embedder.spread,
      weight: embedder.weight,
    },
  };
  let closed = false;
  let running: Promise<Running> | undefined;
  let current: Worker | undefined;

  const start = async (): Promise<Running> => {
    const worker = new Worker(FROM_SOURCE ? SOURCE_START : THREAD, {
      eval: FROM_SOURCE,
      workerData: data,
      execArgv: FROM_SOURCE ? ['--conditions=source'] : [],
      resourceLimits: threadMemory(THREAD_MEMORY_MB),
    });
    current = worker;
    const rpc = createRpcClient<ThreadMethods>(worker as Port, failureOf);
    serveRpc(worker as Port, {
      embed: (texts: string[], task: 'query' | 'passage') => embedder!.embed(texts, task),
      warn: async (message: string) => log?.warn({}, message),
      inform: async (message: string) => log?.info({}, message),
    });
    let cause: unknown;
    worker.on('error', (error) => {
      cause = error;
      log?.warn({ err: error }, 'the thread of the local index ended');
    });
    worker.on('exit', () => {
      rpc.end(new Error('the thread of the local index ended', { cause }));
      if (current === worker) running = undefined;
    });
    try {
      await rpc.call('opened');
    } catch (error) {
      await worker.terminate();
      throw error;
    }
    return { rpc, worker };
  };
  const thread = async (): Promise<Running['rpc']> => {
    if (closed) throw new Error('the local index is closed');
    running ??= start().catch((error: unknown) => {
      running = undefined;
      throw error;
    });
    return (await running).rpc;
  };
  const engine: Engine = {
    add: async (page) => (await thread()).call('add', page),
    remove: async (url) => (await thread()).call('remove', url),
    urlsAmong: async (urls) => (await thread()).call('urlsAmong', urls),
    find: async (query, request) => (await thread()).call('find', query, request),
    flush: async () => (await thread()).call('flush'),
    stats: async () => (await thread()).call('stats'),
    prune: async (bytes) => (await thread()).call('prune', bytes),
    clear: async () => (await thread()).call('clear'),
    async close() {
      if (closed) return;
      closed = true;
      const last = await running?.catch(() => undefined);
      if (!last) return;
      await last.rpc.call('close').catch(() => {});
      await last.worker.terminate();
    },
  };
  return { engine, opened: thread().then(() => {}) };
}

const failureOf = (failed: unknown, name: string | undefined): unknown =>
  name === DatabaseUnavailableError.name ? new DatabaseUnavailableError(failed) : failed;

const THREAD = new URL(import.meta.url.endsWith('.ts') ? './thread.ts' : './thread.js', import.meta.url);
const FROM_SOURCE = THREAD.pathname.endsWith('.ts');
/** In development, a thread needs the same TypeScript loader as the main thread. */
const SOURCE_START = `import('tsx/esm/api').then(({ register }) => {
  register();
  return import(${JSON.stringify(THREAD.href)});
})`;
