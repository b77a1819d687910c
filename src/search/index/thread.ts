/** The thread of the local index. It runs the engine for the main thread. */
import { parentPort, workerData } from 'node:worker_threads';
import { isDamaged, moveAside } from '#storage/database/sqlite.ts';
import { createEngine, type Engine } from './engine.ts';
import type { IndexEmbedder } from './local-index.ts';
import { createRpcClient, type Port, serveRpc } from './port-rpc.ts';
import { openIndexStore } from './store/open-store.ts';

export interface IndexThreadData {
  readonly file: string;
  readonly url: string | undefined;
  readonly schema: string | undefined;
  readonly maxBytes: number;
  readonly embedder: Omit<IndexEmbedder, 'embed'> | undefined;
}

interface Main {
  embed(texts: readonly string[], task: 'query' | 'passage'): Promise<readonly Float32Array[]>;
  warn(message: string): Promise<void>;
  inform(message: string): Promise<void>;
}

if (parentPort) serve(parentPort as Port, workerData as IndexThreadData);

function serve(port: Port, { file, url, schema, maxBytes, embedder }: IndexThreadData): void {
  const main = createRpcClient<Main>(port);
  const log = { warn: (_: unknown, message?: string) => void main.call('warn', message ?? '') };
  const opening = (async () => {
    const store = await openIndexStore({ url, file, schema }, log);
    return createEngine({
      store,
      maxBytes,
      inform: (message) => void main.call('inform', message).catch(() => {}),
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
        if (isDamaged(error)) await resetIndex(opened);
        throw error;
      }
    };
  /** Renames the file and ends the thread. The next thread starts with a new file, because pages can be read again. */
  async function resetIndex(opened: Engine): Promise<void> {
    if (url) return;
    await main.call('warn', 'the page index is damaged; creating a new one');
    await opened.close().catch(() => {});
    await moveAside(file).catch(() => {});
    process.exit(1);
  }
  serveRpc(port, {
    opened: async () => void (await opening),
    add: engine('add'),
    remove: engine('remove'),
    urlsAmong: engine('urlsAmong'),
    find: engine('find'),
    flush: engine('flush'),
    stats: engine('stats'),
    prune: engine('prune'),
    clear: engine('clear'),
    close: engine('close'),
  });
}
