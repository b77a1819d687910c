/**
 * Runs one chat completion, from the validated request to the last piece of the response
 * (docs/reference/wire/models.md, Chat completions).
 */
import { problem } from '#errors.ts';
import { ModelTimeoutError } from '../chat/client.ts';
import { faultsProblem } from '../inputs/faults.ts';
import type { Engine } from './engine.ts';
import { createLimit } from './limit.ts';
import { type MediaTools, mediaFault, type OpenMedia, openMedia, type Page } from './media.ts';
import type { CompletionRequest } from './request.ts';

export interface Usage {
  readonly promptTokens: number;
  readonly completionTokens: number;
}

export type CompletionPiece =
  | { readonly text: string }
  | {
      readonly text: '';
      readonly finish: 'stop' | 'length';
      readonly usage: Usage;
      readonly warning?: string | undefined;
    };

export interface CompletionCall {
  readonly signal: AbortSignal;
  /** Called with the token count of the input before the engine runs; may reject the request. */
  readonly admit: (tokens: number) => Promise<void>;
  /** Called with the usage so far. */
  readonly onSpent: (usage: Usage) => void;
}

export interface CompleteTools extends MediaTools {
  readonly tokens: Tokens;
  /** Timeout for each piece of the response. */
  readonly deadlineMs: number;
  /** Timeout for generative engines, which limit the duration of the whole response themselves. */
  readonly generatingMs: number;
}

export interface Tokens {
  load(): Promise<void>;
  count(text: string): number;
  keep(text: string, tokens: number): string;
}

/** Number of tokens for an image (docs/reference/wire/models.md, Chat completion answers). */
const TILE_SIDE = 512;
const TILE_TOKENS = 85;

const tilesOf = ({ width, height }: Page['size']): number =>
  Math.max(1, Math.ceil(width / TILE_SIDE)) * Math.max(1, Math.ceil(height / TILE_SIDE));

/**
 * Yields pieces of the response; the last one contains the finish reason. Before the first piece it throws
 * ParamValidationError, TokenLimitExceededError or RateLimitTriggeredError; later, the errors of the engine or
 * ServiceTimeoutError.
 */
export async function* complete(
  engine: Engine,
  request: CompletionRequest,
  { signal, admit, onSpent }: CompletionCall,
  tools: CompleteTools,
): AsyncGenerator<CompletionPiece> {
  refuseImpossible(engine, request);
  const { tokens } = tools;
  await tokens.load();
  const watch = createWatch(Math.max(tools.deadlineMs, engine.generates ? tools.generatingMs : 0), signal);
  let media: OpenMedia | undefined;
  try {
    media = await openMedia(request.media, tools, watch.signal);
    const { pages } = media;
    const text = request.media.length > 0 ? request.question : request.messages.map((turn) => turn.text).join('\n');
    const textTokens = tokens.count(text);
    refuseLong(engine, textTokens);
    await admit(textTokens + sum(pages.map(({ size }) => tilesOf(size))) * TILE_TOKENS);
    let tiles = 0;
    const onDrawn = (size: Page['size']) => {
      tiles += tilesOf(size);
    };
    const asking = { request, onDrawn, signal: watch.signal };
    const pieces = pages.length > 0 ? engine.read(pages, asking) : engine.chat(asking);
    const { stop } = request;
    const maxTokens = engine.generates ? undefined : request.maxTokens;
    const limit = createLimit({ stop, maxTokens, count: tokens.count, truncate: tokens.keep });
    const spent = (): Usage => ({
      promptTokens: textTokens + tiles * TILE_TOKENS,
      completionTokens: limit.tokens,
    });
    for await (const piece of watch.each(pieces)) {
      const isEnd = 'end' in piece;
      const out = isEnd ? limit.rest() : limit.take(piece.text);
      const usage = (isEnd ? piece.end.usage : undefined) ?? spent();
      onSpent(usage);
      if (out !== '') yield { text: out };
      if (isEnd || limit.ended) {
        const finish = limit.ended ?? (isEnd && !piece.end.complete ? 'length' : 'stop');
        return yield { text: '', finish, usage, warning: isEnd ? piece.end.warning : undefined };
      }
    }
    throw problem('InternalError', {}, new Error('an engine did not end its answer'));
  } catch (error) {
    throw error instanceof ModelTimeoutError
      ? problem('ServiceTimeoutError', { message: error.message }, error)
      : error;
  } finally {
    watch.end();
    await media?.close();
  }
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

function refuseImpossible({ id, forms, chats }: Engine, { media, form }: CompletionRequest): void {
  if (media.length === 0 && !chats) throw mediaFault(['messages'], `must have an image: ${id} reads only images`);
  if (media.length > 0 && !forms.includes(form)) {
    const field = 'body -> output_format';
    const message = `must be one of ${forms.join(', ')} for ${id}`;
    throw faultsProblem([{ field, message, type: 'enum', input: form }]);
  }
}

function refuseLong({ id, contextTokens }: Engine, tokens: number): void {
  if (contextTokens === 0 || tokens <= contextTokens) return;
  const message = `Input text exceeds the model maximum of ${contextTokens} tokens: it has ${tokens} (${id})`;
  throw problem('TokenLimitExceededError', { message });
}

/** Aborts its signal if the caller disconnects or if no piece arrives in time. */
function createWatch(ms: number, caller: AbortSignal) {
  const late = new AbortController();
  const message = `The model wrote nothing for ${ms / 1000} s`;
  const expire = () => late.abort(problem('ServiceTimeoutError', { message }));
  let timer = setTimeout(expire, ms);
  return {
    signal: AbortSignal.any([caller, late.signal]),
    /** The timer is paused while the caller processes a piece. */
    async *each<T>(items: AsyncIterable<T>): AsyncGenerator<T> {
      for await (const item of items) {
        clearTimeout(timer);
        yield item;
        timer = setTimeout(expire, ms);
      }
    },
    end: () => clearTimeout(timer),
  };
}
