/** An `Embedder` for a model on a remote server. */
import { problem } from '#errors.ts';
import type { Embedder, EmbedOptions, Output, Prepared } from '../backends/backend.ts';
import type { EmbeddingRow } from '../registry/catalogue.ts';
import { createInputPreparer, mediaFormatsOf, type Payload } from './embed-inputs.ts';
import { createEmbedSender, type Item } from './embed-requests.ts';
import type { RemoteRuns } from './protocols.ts';
import { groupBy, runAll, runsOf } from './requests.ts';
import { createServer, misconfigured, type RemoteTools, tooLong, withBackend } from './server.ts';

/** Maximum number of vector components in one response, so that parsing does not block the event loop for long. */
const MAX_NUMBERS = 256 * 1024;

/** Maximum number of files per request, chosen so that the body stays within 64 MiB. */
const MAX_MEDIA = 4;

/** Throws ParamValidationError if the protocol does not support embeddings. */
export function createRemoteEmbedder(row: EmbeddingRow, runs: RemoteRuns, tools: RemoteTools): Embedder {
  const server = createServer(row.id, runs, tools);
  const { embed: embedProtocol } = server.protocol;
  if (!embedProtocol) throw misconfigured(row.id, `the protocol ${runs.protocol} does not support embeddings`);
  const { contextTokens } = row;
  const { tokens } = tools;
  const { prepare, prepareMedia, prepareChunks } = createInputPreparer(row, runs, { server, tokens });
  const sendItems = createEmbedSender({ row, model: runs.model, embedProtocol, transport: server.transport, tokens });

  /** Maximum size of one request. */
  function requestLimits(output: EmbedOptions['output']) {
    const { inputs, tokens: maxTokens } = server.limits();
    const vectors = Math.max(1, Math.floor(MAX_NUMBERS / row.dimensions));
    return {
      inputs: Math.min(inputs, vectors),
      tokens: output === 'tokens' ? Math.min(maxTokens, vectors) : maxTokens,
    };
  }

  /** Divides a batch into requests. All items of a request have the same task, truncation and medium. */
  function divide(items: readonly Item[], output: EmbedOptions['output']): Item[][] {
    const limits = requestLimits(output);
    const groups = groupBy(items, ({ payload: { task, truncate, lateChunking, media }, at }) =>
      lateChunking ? `${at}` : `${truncate} ${media?.medium ?? ''} ${task ?? ''}`,
    );
    return groups.flatMap((group) =>
      runsOf(group, group[0]!.payload.media ? { ...limits, inputs: Math.min(limits.inputs, MAX_MEDIA) } : limits),
    );
  }

  async function embed(batch: readonly Prepared[], options: EmbedOptions): Promise<Output[]> {
    if (!embedProtocol!.outputs.includes(options.output)) {
      const message = `The server of this model does not support ${options.output === 'tokens' ? 'multi-vector' : 'sparse'} output`;
      throw problem('DownstreamServiceFailureError', { message });
    }
    const items = batch.map(
      (prepared, at): Item => ({ payload: prepared.payload as Payload, tokens: prepared.tokens, at }),
    );
    const isCutSilently = ({ payload, tokens: count }: Item) =>
      !payload.media && payload.maxTokens === undefined && count > contextTokens;
    if (embedProtocol!.silent && items.some(isCutSilently)) throw tooLong(contextTokens);
    const outputs: Output[] = new Array(batch.length);
    await runAll(
      options.signal,
      divide(items, options.output).map((request) => async (signal) => {
        for (const [index, output] of (await sendItems(request, { ...options, signal })).entries()) {
          outputs[request[index]!.at] = output;
        }
      }),
    );
    return outputs;
  }

  return withBackend(server.backend, {
    dimensions: row.dimensions,
    prepare,
    embed: (batch: readonly Prepared[], options: EmbedOptions) => server.during(() => embed(batch, options)),
    ...(embedProtocol.lateChunking && { prepareChunks }),
    ...(embedProtocol.media && { media: async () => mediaFormatsOf(embedProtocol.media!, row), prepareMedia }),
  });
}
