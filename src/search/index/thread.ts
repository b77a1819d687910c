/** What runs in the thread of the local index. */
import { parentPort, workerData } from 'node:worker_threads';
import { isDamaged, moveAside } from '#storage/database/sqlite.ts';
import { createEngine, type Engine } from './engine.ts';
import type { IndexEmbedder } from './local-index.ts';
import { openPostgresIndex } from './postgres-index.ts';
import { openSqliteIndex } from './sqlite-index.ts';
import { type Port, servePort, talkThrough } from './talk.ts';

export interface IndexThreadData {
  readonly file: string;
  readonly databaseUrl: string | undefined;
  readonly maxBytes: number;
  readonly embedder: Omit<IndexEmbedder, 'embed'> | undefined;
}

interface Main {
  embed(texts: readonly string[], task: 'query' | 'passage'): Promise<readonly Float32Array[]>;
  warn(message: string): Promise<void>;
}

if (parentPort) serve(parentPort as Port, workerData as IndexThreadData);

function serve(port: Port, { file, databaseUrl, maxBytes, embedder }: IndexThreadData): void {
  const main = talkThrough<Main>(port);
  const log = { warn: (_: unknown, message?: string) => void main.call('warn', message ?? '') };
  const opening = (async () => {
    const store = databaseUrl ? await openPostgresIndex(databaseUrl, log) : await openSqliteIndex(file, log);
    return createEngine({
      store,
      maxBytes,
      embedder: embedder && { ...embedder, embed: (texts, task) => main.call('embed', texts, task) },
    });
  })();
  const engine =
    <Name extends keyof Engine>(name: Name) =>
    async (...values: Parameters<Engine[Name]>) => {
      const opened = await opening;
      try {
        return await (opened[name] as (...values: Parameters<Engine[Name]>) => unknown)(...values);
      } catch (error) {
        if (isDamaged(error)) await giveUp(opened);
        throw error;
      }
    };
  /** What was read can be read again: the thread ends, and the next one begins a new file. */
  async function giveUp(opened: Engine): Promise<void> {
    if (databaseUrl) return;
    await main.call('warn', 'the index of pages is damaged: it is made anew');
    await opened.close().catch(() => {});
    await moveAside(file).catch(() => {});
    process.exit(1);
  }
  servePort(port, {
    opened: async () => void (await opening),
    add: engine('add'),
    remove: engine('remove'),
    find: engine('find'),
    settled: engine('settled'),
    stats: engine('stats'),
    prune: engine('prune'),
    clear: engine('clear'),
    close: engine('close'),
  });
}
