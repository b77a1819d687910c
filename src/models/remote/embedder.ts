/** An `Embedder` for a model on a remote server. */
import { problem } from '#errors.ts';
import type {
  Embedder,
  EmbedOptions,
  MediaNeeds,
  Output,
  Prepared,
  PrepareOptions,
  ReadyMedium,
} from '../backends/backend.ts';
import { MEDIA_KINDS } from '../inputs/inputs.ts';
import type { EmbeddingKind, EmbeddingRow } from '../registry/catalogue.ts';
import { inOrder } from './answers.ts';
import { createExactCounts, cutTo, SURE_SHARE } from './counts.ts';
import { estimate, SPECIAL_TOKENS, sendable } from './estimate.ts';
import { bytesOf, joined, outputOf, tokensOf } from './outputs.ts';
import type { EmbedAsk, RemoteMedium } from './protocol.ts';
import type { RemoteRuns } from './protocols.ts';
import { groupBy, runAll, runsOf } from './requests.ts';
import { createServer, misconfigured, type RemoteTools, tooLong, withBackend } from './server.ts';
import { RequestRefusedError } from './transport.ts';

/** Payload of a prepared input. */
interface Payload {
  readonly texts: readonly string[];
  readonly task: string | undefined;
  /** Whether the server truncates the text. */
  readonly truncate: boolean;
  /** Limit for truncation; unset: a text that is too long is refused. */
  readonly maxTokens: number | undefined;
  readonly lateChunking: boolean;
  /** Set for media, instead of texts. */
  readonly media?: { readonly medium: RemoteMedium; readonly uri: string } | undefined;
}

interface Item {
  readonly payload: Payload;
  readonly tokens: number;
  readonly at: number;
}

/** Maximum numbers in one answer, so that parsing does not block the event loop for long. */
const MAX_NUMBERS = 256 * 1024;

/** Files per request: as many as fit into a body of 64 MiB. */
const MAX_MEDIA = 4;
/** Token estimate of a file until the server has counted it. */
const MEDIA_TOKENS = 256;

/** Factor by which a text is shortened per attempt, if the server has more tokens than estimated. */
const SHORTEN_SHARE = 0.75;
const MAX_SHORTER = 6;

/** Throws ParamValidationError if the protocol has no embeddings. */
export function createRemoteEmbedder(row: EmbeddingRow, runs: RemoteRuns, tools: RemoteTools): Embedder {
  const server = createServer(row.id, runs, tools);
  const { protocol, transport, backend } = server;
  const { embed: speaks } = protocol;
  if (!speaks) throw misconfigured(row.id, `the protocol ${runs.protocol} does not support embeddings`);
  const { tokens } = tools;
  const { contextTokens } = row;
  const exact = createExactCounts(server, runs.model);
  /** Undefined until an answer has shown it. */
  let takesBase64: boolean | undefined = speaks.base64 ? undefined : false;

  /** Tasks are sent to servers that know them, unless the row has prompts, which means that this model does not. */
  const taskFor = (task: string | undefined) =>
    protocol.tasks && Object.keys(row.prefixes).length === 0 ? task : undefined;

  async function prepare(texts: readonly string[], { maxTokens, task, signal }: PrepareOptions): Promise<Prepared[]> {
    const clean = texts.map(sendable);
    const estimates = await estimate(tokens, clean, signal);
    const counted = clean.map((text, index) => ({ text, tokens: estimates[index]! }));
    const counts = await exact.of(counted, contextTokens, signal);
    return counted.map((text, index) => {
      const fullTokens = counts[index]!;
      const mayBeCut = maxTokens !== undefined && Math.max(fullTokens, text.tokens) > maxTokens * SURE_SHARE;
      let kept = text.text;
      if (maxTokens !== undefined && protocol.truncates) kept = mayBeCut ? tokens.keep(kept, maxTokens * 4) : kept;
      else if (maxTokens !== undefined && fullTokens > maxTokens) {
        kept = cutTo(tokens, text, fullTokens, maxTokens, SPECIAL_TOKENS);
      }
      const payload: Payload = {
        texts: [kept],
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
    const texts = items.map((text, index) => sendable(index === 0 ? prefix + text : text));
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

  async function embed(batch: readonly Prepared[], options: EmbedOptions): Promise<Output[]> {
    if (!speaks!.outputs.includes(options.output)) {
      const message = `The server of this model does not support ${options.output === 'tokens' ? 'multi-vector' : 'sparse'} output`;
      throw problem('DownstreamServiceFailureError', { message });
    }
    const items = batch.map(
      (prepared, at): Item => ({ payload: prepared.payload as Payload, tokens: prepared.tokens, at }),
    );
    const isCutInSilence = ({ payload, tokens: count }: Item) =>
      !payload.media && payload.maxTokens === undefined && count > contextTokens;
    if (speaks!.silent && items.some(isCutInSilence)) throw tooLong(contextTokens);
    const { inputs, tokens: most } = server.limits();
    const vectors = Math.max(1, Math.floor(MAX_NUMBERS / row.dimensions));
    const limits = {
      inputs: Math.min(inputs, vectors),
      tokens: options.output === 'tokens' ? Math.min(most, vectors) : most,
    };
    const kinds = groupBy(items, ({ payload: { task, truncate, lateChunking, media }, at }) =>
      lateChunking ? `${at}` : `${truncate} ${media?.medium ?? ''} ${task ?? ''}`,
    );
    const requests = kinds.flatMap((kind) =>
      runsOf(kind, kind[0]!.payload.media ? { ...limits, inputs: Math.min(limits.inputs, MAX_MEDIA) } : limits),
    );
    const outputs: Output[] = new Array(batch.length);
    await runAll(
      options.signal,
      requests.map((request) => async (signal) => {
        for (const [index, output] of (await run(request, { ...options, signal })).entries()) {
          outputs[request[index]!.at] = output;
        }
      }),
    );
    return outputs;
  }

  /** Runs one request, or several smaller ones if the server rejects it as too large. */
  async function run(items: readonly Item[], options: EmbedOptions, shorter = 0): Promise<Output[]> {
    const base64 = takesBase64 !== false;
    try {
      const outputs = await ask(items, options, base64);
      if (base64) takesBase64 = true;
      return outputs;
    } catch (error) {
      if (!(error instanceof RequestRefusedError)) throw error;
      if (error.tooLong) return await less(items, options, shorter);
      if (!base64 || takesBase64 === true || (error.httpStatus !== 400 && error.httpStatus !== 422)) throw error;
      const outputs = await ask(items, options, false);
      takesBase64 = false;
      return outputs;
    }
  }

  async function less(items: readonly Item[], options: EmbedOptions, shorter: number): Promise<Output[]> {
    if (items.length > 1) {
      const half = Math.ceil(items.length / 2);
      return [
        ...(await run(items.slice(0, half), options, shorter)),
        ...(await run(items.slice(half), options, shorter)),
      ];
    }
    const { payload, at } = items[0]!;
    const { maxTokens, lateChunking, texts } = payload;
    if (maxTokens === undefined || lateChunking || payload.media || shorter === MAX_SHORTER)
      throw tooLong(contextTokens);
    const ceiling = Math.max(1, Math.floor((maxTokens - SPECIAL_TOKENS) * SHORTEN_SHARE ** (shorter + 1)));
    const kept = tokens.keep(texts[0]!, ceiling);
    return await run([{ payload: { ...payload, texts: [kept] }, tokens: ceiling, at }], options, shorter + 1);
  }

  async function ask(items: readonly Item[], options: EmbedOptions, base64: boolean): Promise<Output[]> {
    const { task, truncate, lateChunking, media } = items[0]!.payload;
    const { output, dimensions, signal } = options;
    const texts = items.flatMap(({ payload }) => payload.texts);
    const cuts = output === 'pooled' && dimensions < row.dimensions && row.matryoshka.includes(dimensions);
    const request: EmbedAsk = {
      model: runs.model,
      kind: row.kind,
      texts,
      ...(media && { media: { medium: media.medium, uris: items.map(({ payload }) => payload.media!.uri) } }),
      task,
      truncate,
      lateChunking,
      output,
      base64,
      ...(cuts && { dimensions }),
    };
    const inputs = media ? items.length : texts.length;
    const maxBytes = bytesOf(items, inputs, output, row.dimensions);
    const answer = speaks!.parse(await transport.send(speaks!.request(request), { signal, maxBytes }));
    const sizes = cuts ? [dimensions, row.dimensions] : [row.dimensions];
    const rows = inOrder(answer.rows, inputs);
    if (lateChunking) return [joined(rows, sizes, answer.tokens)];
    const counts = tokensOf(answer, items);
    return rows.map((found, index) => outputOf(found, output, sizes, counts?.[index]));
  }

  return withBackend(backend, {
    dimensions: row.dimensions,
    prepare,
    embed: (batch: readonly Prepared[], options: EmbedOptions) => server.during(() => embed(batch, options)),
    ...(speaks.lateChunking && { prepareChunks }),
    ...(speaks.media && { media: async () => needsOf(speaks.media!, row), prepareMedia }),
  });
}

/** The media that both the protocol and the model's kind accept, as files. */
function needsOf(media: readonly RemoteMedium[], { kind }: EmbeddingRow): MediaNeeds {
  const need = (medium: RemoteMedium) =>
    media.includes(medium) && (MEDIA_KINDS[medium] as readonly EmbeddingKind[]).includes(kind) ? 'file' : undefined;
  return { image: need('image'), audio: need('audio'), video: need('video') };
}
