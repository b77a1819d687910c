/** The search index, which is opened when the first page is added. Commands that add no page never open it. */
import type { Config } from '#config.ts';
import type { LocalIndex } from '#search/index.ts';
import type { Log } from '#telemetry/log.ts';
import { CloseStack } from './close-stack.ts';
import type { Foundation } from './foundation.ts';

export interface IndexOnDemand extends Pick<LocalIndex, 'add' | 'remove'> {
  /** Finishes pending work, then closes the index. */
  close(): Promise<void>;
}

export function createIndexOnDemand(config: Config, foundation: Foundation, log: Log): IndexOnDemand {
  const resources = new CloseStack();
  let opened: Promise<LocalIndex> | undefined;

  async function open(): Promise<LocalIndex> {
    const [{ openIndexOf }, { createIndexEmbedder }, { openModelModule }] = await Promise.all([
      import('#search/index.ts'),
      import('./model-tools.ts'),
      import('./model-module.ts'),
    ]);
    const modelHost = resources.use(await openModelModule(config, foundation, log));
    const embedder = await createIndexEmbedder(modelHost, config.searchEmbedder);
    return resources.use(await openIndexOf(config, { embedder, log }));
  }

  const index = () => {
    opened ??= open();
    return opened;
  };
  return {
    add: async (...given) => (await index()).add(...given),
    remove: async (...given) => (await index()).remove(...given),
    async close() {
      // The error was already reported to the caller of `add` or `remove`.
      await opened?.catch(() => {});
      await resources.closeAll(log);
    },
  };
}
