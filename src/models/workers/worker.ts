/** Runs local models for other servers. */
import { problem } from '#errors.ts';
import type { Backend, Prepared } from '../backend.ts';
import type { ModelHost } from '../registry/model-host.ts';
import type { ModelUse } from '../registry/model-runtime.ts';
import { isEmbedding } from '../registry/registry.ts';
import type { ModelRequest } from './messages.ts';

export type ModelWorkerParts = {
  readonly registry: Pick<ModelHost['registry'], 'find' | 'list'>;
  readonly models: Pick<ModelHost['models'], 'withEmbedder' | 'withReranker'>;
};

/** The queues of servers are fair to their callers, so all requests here have one caller. */
const CALLER = 'servers';

/** Returns the handler of requests. It throws problems or the signal's reason. */
export function createModelWorker({ registry, models }: ModelWorkerParts) {
  async function handle(request: ModelRequest, signal: AbortSignal): Promise<unknown> {
    if (request.do === 'list') return (await registry.list()).map(({ row }) => row.id);
    const found = await registry.find(request.model);
    if (!found) throw noModel(request.model);
    const use: ModelUse = { characters: charactersOf(request), signal };
    const { row } = found;
    if (row.does === 'rerank') {
      return models.withReranker(row, use, async ({ backend, queue }, within) => {
        if (request.do === 'pairs') {
          const { query, documents, maxTokens } = request;
          return backend.prepare(query, documents, { maxTokens, signal: within });
        }
        if (request.do !== 'score') return withTokens(backend, request, within);
        const scores = await queue.run({ items: request.batch, lane: { key: '' }, caller: CALLER, signal: within });
        return Float32Array.from(scores);
      });
    }
    if (!isEmbedding(found)) throw noModel(request.model);
    return models.withEmbedder(row, use, async ({ backend, queue }, within) => {
      switch (request.do) {
        case 'prepare':
          return backend.prepare(request.texts, { maxTokens: request.maxTokens, task: request.task, signal: within });
        case 'chunks': {
          const { prefix, items, maxTokens, task } = request;
          return backend.prepareChunks?.(prefix, items, { maxTokens, task, signal: within });
        }
        case 'media':
          return backend.media?.();
        case 'embed': {
          const { batch: items, output, dimensions } = request;
          const lane = { key: `${output} ${dimensions}`, output, dimensions };
          return queue.run({ items, lane, caller: CALLER, signal: within });
        }
        default:
          return withTokens(backend, request, within);
      }
    });
  }
  return handle;
}

async function withTokens({ tokens }: Backend, request: ModelRequest, signal: AbortSignal): Promise<unknown> {
  if (request.do === 'encode') return tokens?.encode(request.texts, { special: request.special, signal });
  if (request.do === 'decode') return tokens?.decode(request.lists, { skipSpecial: request.skipSpecial, signal });
  if (request.do === 'ids') return tokens?.idsOf(request.pieces, signal);
  throw noModel('model' in request ? request.model : '');
}

const noModel = (model: string) =>
  problem('DownstreamServiceFailureError', {
    message: `The workers do not serve the model ${model}: servers and workers need the same models`,
  });

const lengthOf = (texts: readonly string[]) => texts.reduce((sum, text) => sum + text.length, 0);
/** An upper bound of the characters of most tokens. */
const CHARACTERS_PER_TOKEN = 8;
const lengthOfBatch = (batch: readonly Prepared[]) =>
  batch.reduce((sum, { tokens }) => sum + tokens * CHARACTERS_PER_TOKEN, 0);

function charactersOf(request: Exclude<ModelRequest, { do: 'list' }>): number {
  switch (request.do) {
    case 'prepare':
    case 'encode':
      return lengthOf(request.texts);
    case 'chunks':
      return lengthOf(request.items);
    case 'pairs':
      return lengthOf([request.query, ...request.documents]);
    case 'embed':
    case 'score':
      return lengthOfBatch(request.batch);
    default:
      return 0;
  }
}
