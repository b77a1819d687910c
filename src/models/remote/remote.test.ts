// Full run only: changes state of the whole process.
import { describe } from 'vitest';
import { describeEmbedder, describeReranker } from '../backend.suite.ts';
import { startModelServer } from './model-server.suite.ts';
import { PROTOCOLS } from './protocols.ts';
import { closeFetchAfterAll, embedderAt, KEY, type ProtocolName, rerankerAt, runsAt } from './remote.suite.ts';

closeFetchAfterAll();

for (const [name, { embed, rerank }] of Object.entries(PROTOCOLS)) {
  const protocol = name as ProtocolName;
  describe(protocol, () => {
    if (embed) {
      describeEmbedder('embeddings', async () => {
        const server = await startModelServer(protocol, { key: KEY });
        const model = embedderAt(runsAt(protocol, server.url));
        return endingWith(model, () => server.close());
      });
    }
    if (rerank) {
      describeReranker('reranking', async () => {
        const server = await startModelServer(protocol, { key: KEY });
        const model = rerankerAt(runsAt(protocol, server.url));
        return endingWith(model, () => server.close());
      });
    }
  });
}

/** Returns the same model, but closing it also closes its server. */
function endingWith<Model extends { close(): Promise<void> }>(model: Model, end: () => Promise<void>): Model {
  const { close } = model;
  return Object.defineProperties({} as Model, {
    ...Object.getOwnPropertyDescriptors(model),
    close: {
      value: async () => {
        await close.call(model);
        await end();
      },
    },
  });
}
