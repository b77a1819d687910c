/** An `Embedder` for a model on a remote server: counts and truncates texts, and divides batches into requests. */

import { problem } from '#errors.ts';
import type {
  Embedder,
  EmbedOptions,
  MediaFormats,
  Output,
  Prepared,
  PrepareOptions,
  ReadyMedium,
} from '../backend.ts';
import { MEDIA_KINDS } from '../inputs/inputs.ts';
import type { EmbeddingKind, EmbeddingRow } from '../registry/catalogue.ts';
import { createEmbedSender, type Item, type Payload } from './embed-requests.ts';
import type { RemoteMedium } from './protocol.ts';
import type { RemoteRuns } from './protocols.ts';
import { groupBy, runAll, runsOf } from './requests.ts';
import { createServer, misconfigured, type RemoteTools, type Server, tooLong, withBackend } from './server.ts';
import { createExactCounts, cutTo, estimate, SPECIAL_TOKENS, SURE_SHARE, sanitizeText } from './token-counts.ts';

/** Estimated number of tokens of a file, used until the server has reported the real number. */
const MEDIA_TOKENS = 256;

interface InputPreparer {
  prepare(texts: readonly string[], options: PrepareOptions): Promise<Prepared[]>;
  prepareMedia(media: readonly ReadyMedium[], options: PrepareOptions): Promise<Prepared[]>;
  prepareChunks(prefix: string, items: readonly string[], options: PrepareOptions): Promise<Prepared[]>;
}

function createInputPreparer(
  row: EmbeddingRow,
  runs: RemoteRuns,
  { server, tokens }: { readonly server: Server; readonly tokens: RemoteTools['tokens'] },
): InputPreparer {
  const { contextTokens } = row;
  const { protocol } = server;
  const exact = createExactCounts(server, runs.model);

  /**
   * The task is sent to servers that support tasks, unless the row has prompts: then the model itself does not support
   * them.
   */
  const taskFor = (task: string | undefined) =>
    protocol.tasks && Object.keys(row.prefixes).length === 0 ? task : undefined;

  async function prepare(texts: readonly string[], { maxTokens, task, signal }: PrepareOptions): Promise<Prepared[]> {
    const clean = texts.map(sanitizeText);
    const estimates = await estimate(tokens, clean, signal);
    const counted = clean.map((text, index) => ({ text, tokens: estimates[index]! }));
    const counts = await exact.of(counted, contextTokens, signal);
    return counted.map((text, index) => {
      const fullTokens = counts[index]!;
      const mayBeCut = maxTokens !== undefined && Math.max(fullTokens, text.tokens) > maxTokens * SURE_SHARE;
      let shortened = text.text;
      if (maxTokens !== undefined && protocol.truncates)
        shortened = mayBeCut ? tokens.keep(shortened, maxTokens * 4) : shortened;
      else if (maxTokens !== undefined && fullTokens > maxTokens) {
        shortened = cutTo(tokens, text, fullTokens, maxTokens, SPECIAL_TOKENS);
      }
      const payload: Payload = {
        texts: [shortened],
        task: taskFor(task),
        truncate: mayBeCut && protocol.truncates,
        maxTokens,
        lateChunking: false,
      };
      return { tokens: Math.min(fullTokens, maxTokens ?? Number.POSITIVE_INFINITY), fullTokens, payload };
    });
  }

  async function prepareMedia(media: readonly ReadyMedium[], { task }: PrepareOptions): Promise<Prepared[]> {
    return media.map((one) => {
      if (!('file' in one)) throw new Error('remote models take media as files');
      const uri = `data:${one.mediaType};base64,${Buffer.from(one.file).toString('base64')}`;
      const payload: Payload = {
        texts: [],
        task: taskFor(task),
        truncate: false,
        maxTokens: undefined,
        lateChunking: false,
        media: { medium: one.medium, uri },
      };
      return { tokens: MEDIA_TOKENS, fullTokens: MEDIA_TOKENS, payload };
    });
  }

  /** The server splits the sequence into windows itself. */
  async function prepareChunks(prefix: string, items: readonly string[], options: PrepareOptions): Promise<Prepared[]> {
    const { maxTokens, task, signal } = options;
    const texts = items.map((text, index) => sanitizeText(index === 0 ? prefix + text : text));
    const estimates = await estimate(tokens, texts, signal);
    const fullTokens = estimates.reduce((sum, count) => sum + count - SPECIAL_TOKENS, SPECIAL_TOKENS);
    const payload: Payload = {
      texts,
      task: taskFor(task),
      truncate: maxTokens !== undefined,
      maxTokens,
      lateChunking: true,
    };
    return [{ tokens: fullTokens, fullTokens, payload }];
  }

  return { prepare, prepareMedia, prepareChunks };
}

/** The media, sent as files, that both the protocol and the model's kind accept. */
function mediaFormatsOf(media: readonly RemoteMedium[], { kind }: EmbeddingRow): MediaFormats {
  const need = (medium: RemoteMedium) =>
    media.includes(medium) && (MEDIA_KINDS[medium] as readonly EmbeddingKind[]).includes(kind) ? 'file' : undefined;
  return { image: need('image'), audio: need('audio'), video: need('video') };
}

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
