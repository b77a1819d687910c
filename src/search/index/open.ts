/** The local index as the server has it: its work is done in a thread of its own. */
import { Worker } from 'node:worker_threads';
import type { Log } from '#telemetry/log.ts';
import { answer } from './answer.ts';
import type { Engine } from './engine.ts';
import type { IndexEmbedder, LocalIndex, Retriever } from './local-index.ts';
import { type Port, servePort, type Talk, talkThrough } from './talk.ts';
import type { IndexThreadData } from './thread.ts';

export interface LocalIndexOptions {
  /** The SQLite file. */
  readonly file: string;
  /** `postgres://…`: the index is kept there instead. */
  readonly databaseUrl?: string | undefined;
  /** What the index may take, about, in bytes. */
  readonly maxBytes: number;
  readonly embedder?: IndexEmbedder | undefined;
  readonly log?: Pick<Log, 'warn'> | undefined;
}

const BOTH: readonly Retriever[] = ['words', 'meaning'];
const THREAD_MEMORY_MB = 1_024;

/** Rejects when the file or the database cannot be used. */
export async function openLocalIndex(options: LocalIndexOptions): Promise<LocalIndex> {
  return localIndexOver(await openThread(options));
}

/** The contract over an engine, wherever that runs. */
export function localIndexOver(engine: Engine): LocalIndex {
  return {
    add: (page) => engine.add(page),
    remove: (url) => engine.remove(url),
    async search(query, { signal, rerank, by = BOTH, owners } = {}) {
      signal?.throwIfAborted();
      // There is nothing but pages in it.
      if (query.kind !== 'web') return [];
      const found = await unlessAborted(engine.find(query, by, owners), signal);
      return answer(query, found, { signal, rerank });
    },
    settled: () => engine.settled(),
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

/** What the thread serves. */
interface Far extends Engine {
  /** Resolves when the store is open. */
  opened(): Promise<void>;
}

interface Running {
  readonly talk: Talk<Far>;
  readonly worker: Worker;
}

/** A thread that died is started again with the next call. */
async function openThread({ file, databaseUrl, maxBytes, embedder, log }: LocalIndexOptions): Promise<Engine> {
  const data: IndexThreadData = {
    file,
    databaseUrl,
    maxBytes,
    embedder: embedder && {
      id: embedder.id,
      dimensions: embedder.dimensions,
      floor: embedder.floor,
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
      resourceLimits: { maxOldGenerationSizeMb: THREAD_MEMORY_MB },
    });
    current = worker;
    const talk = talkThrough<Far>(worker as Port);
    servePort(worker as Port, {
      embed: (texts: string[], task: 'query' | 'passage') => embedder!.embed(texts, task),
      warn: async (message: string) => log?.warn({}, message),
    });
    let cause: unknown;
    worker.on('error', (error) => {
      cause = error;
      log?.warn({ err: error }, 'the thread of the local index ended');
    });
    worker.on('exit', () => {
      talk.end(new Error('the thread of the local index ended', { cause }));
      if (current === worker) running = undefined;
    });
    try {
      await talk.call('opened');
    } catch (error) {
      await worker.terminate();
      throw error;
    }
    return { talk, worker };
  };
  const engine = async (): Promise<Running['talk']> => {
    if (closed) throw new Error('the local index is closed');
    running ??= start().catch((error: unknown) => {
      running = undefined;
      throw error;
    });
    return (await running).talk;
  };
  await engine();
  return {
    add: async (page) => (await engine()).call('add', page),
    remove: async (url) => (await engine()).call('remove', url),
    find: async (query, by, owners) => (await engine()).call('find', query, by, owners),
    settled: async () => (await engine()).call('settled'),
    stats: async () => (await engine()).call('stats'),
    prune: async (bytes) => (await engine()).call('prune', bytes),
    clear: async () => (await engine()).call('clear'),
    async close() {
      if (closed) return;
      closed = true;
      const last = await running?.catch(() => undefined);
      if (!last) return;
      await last.talk.call('close').catch(() => {});
      await last.worker.terminate();
    },
  };
}

const THREAD = new URL(import.meta.url.endsWith('.ts') ? './thread.ts' : './thread.js', import.meta.url);
const FROM_SOURCE = THREAD.pathname.endsWith('.ts');
/** A thread needs the loader for sources that the main one has (tests, development). */
const SOURCE_START = `import('tsx/esm/api').then(({ register }) => {
  register();
  return import(${JSON.stringify(THREAD.href)});
})`;
