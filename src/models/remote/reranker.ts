/** A `Reranker` for a model on a remote server. */
import type { Prepared, PrepareOptions, Reranker } from '../backend.ts';
import type { RerankRow as ModelRow } from '../registry/catalogue.ts';
import { inOrder, scoreOf } from './answers.ts';
import type { RemoteRuns } from './protocols.ts';
import { groupBy, runAll, runsOf } from './requests.ts';
import { createServer, misconfigured, type RemoteTools, tooLong, withBackend } from './server.ts';
import { estimate, SPECIAL_TOKENS, sanitizeText, windows } from './token-counts.ts';
import { RequestRefusedError } from './transport.ts';

interface Pair {
  readonly query: string;
  readonly document: string;
  readonly maxTokens: number | undefined;
}

interface Item extends Pair {
  readonly tokens: number;
  readonly at: number;
}

/** Separator between query and document. */
const SEPARATOR_TOKENS = 1;
/** Share of the document's tokens that a window uses, because other vocabularies produce more tokens than estimated. */
const WINDOW_SHARE = 0.75;
const BYTES_AN_ANSWER = 1024 * 1024;
const BYTES_A_RESULT = 512;
/**
 * Bytes per character of a response. Servers may also return the documents, in the worst case with every character
 * escaped.
 */
const BYTES_A_CHARACTER = 6;

/** Throws ParamValidationError if the protocol does not support reranking. */
export function createRemoteReranker(row: ModelRow, runs: RemoteRuns, tools: RemoteTools): Reranker {
  const server = createServer(row.id, runs, tools);
  const { protocol, transport, backend } = server;
  const { rerank: speaks } = protocol;
  if (!speaks) throw misconfigured(row.id, `the protocol ${runs.protocol} does not support reranking`);
  const { tokens } = tools;

  async function prepare(asked: string, documents: readonly string[], { maxTokens, signal }: PrepareOptions) {
    const whole = sanitizeText(asked);
    const texts = documents.map(sanitizeText);
    const [fullQuery = 0, ...counts] = await estimate(tokens, [whole, ...texts], signal);
    const half = Math.floor((maxTokens ?? 0) / 2);
    const isCut = maxTokens !== undefined && !speaks!.windows && fullQuery > half;
    const query = isCut ? tokens.keep(whole, Math.max(1, half - SPECIAL_TOKENS)) : whole;
    const queryTokens = isCut ? half : fullQuery;

    const pairs: Prepared[] = [];
    const add = (document: string, count: number): number => {
      const used = queryTokens + count + SEPARATOR_TOKENS;
      const payload: Pair = { query, document, maxTokens };
      const full = used + fullQuery - queryTokens;
      return pairs.push({ tokens: Math.min(used, maxTokens ?? used), fullTokens: full, payload }) - 1;
    };
    const positions: number[][] = [];
    for (const [index, text] of texts.entries()) {
      const count = counts[index]! - SPECIAL_TOKENS;
      const maxDocumentTokens = (maxTokens ?? Number.POSITIVE_INFINITY) - queryTokens - SEPARATOR_TOKENS;
      if (speaks!.windows || count <= maxDocumentTokens * WINDOW_SHARE) {
        positions.push([add(text, count)]);
        continue;
      }
      const limit = Math.max(1, Math.floor(maxDocumentTokens * WINDOW_SHARE));
      const pieces = await windows(tokens, text, limit, signal);
      positions.push(pieces.map((piece) => add(piece, limit)));
    }
    return { pairs, documents: positions };
  }

  async function score(batch: readonly Prepared[], signal: AbortSignal): Promise<Float32Array> {
    const items = batch.map(({ payload, tokens: count }, at): Item => ({ ...(payload as Pair), tokens: count, at }));
    const isCutInSilence = ({ maxTokens, tokens: count }: Item) => maxTokens === undefined && count > row.contextTokens;
    if (speaks!.silent && items.some(isCutInSilence)) throw tooLong(row.contextTokens);
    const queries = groupBy(items, ({ query, maxTokens }) => `${maxTokens ?? ''} ${query}`);
    const requests = queries.flatMap((query) => runsOf(query, server.limits()));
    const scores = new Float32Array(batch.length);
    await runAll(
      signal,
      requests.map((request) => async (end) => {
        for (const [index, found] of (await run(request, end)).entries()) scores[request[index]!.at] = found;
      }),
    );
    return scores;
  }

  async function run(items: readonly Item[], signal: AbortSignal): Promise<number[]> {
    try {
      return await ask(items, signal);
    } catch (error) {
      if (!(error instanceof RequestRefusedError && error.tooLong)) throw error;
      if (items.length === 1) throw tooLong(row.contextTokens);
      const half = Math.ceil(items.length / 2);
      return [...(await run(items.slice(0, half), signal)), ...(await run(items.slice(half), signal))];
    }
  }

  async function ask(items: readonly Item[], signal: AbortSignal): Promise<number[]> {
    const { query, maxTokens } = items[0]!;
    const documents = items.map(({ document }) => document);
    const request = speaks!.request({
      model: runs.model,
      query,
      documents,
      contextTokens: row.contextTokens,
      maxTokens,
    });
    const characters = documents.reduce((sum, { length }) => sum + length, 0);
    const maxBytes = BYTES_AN_ANSWER + documents.length * BYTES_A_RESULT + characters * BYTES_A_CHARACTER;
    const rows = speaks!.parse(await transport.send(request, { signal, maxBytes }));
    return inOrder(rows, documents.length).map((found) => scoreOf(found, speaks!.cosines));
  }

  return withBackend(backend, {
    prepare,
    score: (batch: readonly Prepared[], signal: AbortSignal) => server.during(() => score(batch, signal)),
  });
}
