/** Client for the OpenAI chat completions protocol, with and without streaming. */
import { Problem, problem } from '#errors.ts';
import { retryAfterSeconds } from '#http/retry-after.ts';
import type { Chat, ChatAnswer, ChatDelta, ChatRequest, ChatUsage } from './chat.ts';
import { eventData } from './event-lines.ts';

interface ChatResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: AsyncIterable<Uint8Array>;
}

/** The `fetch` function that the client needs, for servers configured by the operator. */
export interface ChatFetch {
  (
    url: string,
    options: {
      readonly method: string;
      readonly headers: Readonly<Record<string, string>>;
      readonly body: string;
      readonly signal: AbortSignal;
      readonly timeoutMs: number;
    },
  ): Promise<ChatResponse>;
  /** Throws if the URL must not be called. */
  readonly check?: (url: string) => void;
}

export interface ChatOptions {
  /** Base URL; `/chat/completions` is appended. */
  readonly url: string;
  readonly model: string;
  readonly key?: string | undefined;
  readonly fetch: ChatFetch;
  /** Timeout for the whole request, including reading the response. */
  readonly timeoutMs: number;
}

/** The server exceeded the timeout, or reported a timeout of its own (status 504). */
export class ModelTimeoutError extends Problem {
  constructor(message: string, cause?: unknown) {
    super('DownstreamServiceFailureError', { message }, cause);
  }
}

/** Maximum size of a response, in bytes; no page needs a larger one. */
const MAX_ANSWER_BYTES = 4_000_000;
/** Maximum size of a stream, in bytes. It is larger because each event wraps a few letters in hundreds of bytes. */
const MAX_STREAM_BYTES = 64_000_000;
/** Maximum number of bytes read from an error response. */
const MAX_ERROR_BYTES = 64 * 1024;

export function createChat({ url, model, key, fetch, timeoutMs }: ChatOptions): Chat {
  const endpoint = `${url.replace(/\/+$/, '')}/chat/completions`;
  const headers = { 'content-type': 'application/json', ...(key && { authorization: `Bearer ${key}` }) };

  async function ask(request: ChatRequest, limit: AbortSignal, stream: boolean): Promise<ChatResponse> {
    const send = (wanted: ChatRequest) =>
      fetch(endpoint, {
        method: 'POST',
        headers: { ...headers, accept: stream ? 'text/event-stream' : 'application/json' },
        body: JSON.stringify(bodyOf(model, wanted, stream)),
        signal: AbortSignal.any([request.signal, limit]),
        timeoutMs,
      });
    let response = await send(request);
    // The server may not support this JSON schema. Retry without it, because the response is validated anyway.
    if (request.responseFormat && (response.status === 400 || response.status === 422)) {
      await drained(response);
      response = await send({ ...request, responseFormat: undefined });
    }
    if (response.status !== 200) throw await refusal(response);
    return response;
  }

  /** Converts any error into a problem. */
  function blame(error: unknown, { signal }: ChatRequest, limit: AbortSignal): unknown {
    if (signal.aborted) return signal.reason;
    if (error instanceof Problem) return error;
    if (limit.aborted) return new ModelTimeoutError(`The model did not respond within ${timeoutMs / 1000} s`, error);
    return failure('The model server cannot be reached', error);
  }

  return {
    check: () => fetch.check?.(endpoint),
    async complete(request) {
      const limit = AbortSignal.timeout(timeoutMs);
      try {
        const { body } = await ask(request, limit, false);
        return answerOf(await text(body, MAX_ANSWER_BYTES));
      } catch (error) {
        throw blame(error, request, limit);
      }
    },
    async *stream(request) {
      const limit = AbortSignal.timeout(timeoutMs);
      try {
        const response = await ask(request, limit, true);
        // Some servers ignore `stream` and send the whole response at once.
        if (/\bjson\b/i.test(response.headers['content-type'] ?? '')) {
          const { text: whole, ...end } = answerOf(await text(response.body, MAX_ANSWER_BYTES));
          yield { text: whole };
          yield { text: '', end };
        } else yield* deltas(response.body);
      } catch (error) {
        throw blame(error, request, limit);
      }
    },
  };
}

const bodyOf = (model: string, request: ChatRequest, stream: boolean) => ({
  model,
  messages: request.messages,
  ...(request.maxTokens !== undefined && { max_tokens: request.maxTokens }),
  ...(request.temperature !== undefined && { temperature: request.temperature }),
  ...request.sampling,
  ...(request.responseFormat && { response_format: request.responseFormat }),
  ...(stream && { stream: true, stream_options: { include_usage: true } }),
});

const failure = (message: string, cause?: unknown) => problem('DownstreamServiceFailureError', { message }, cause);

async function drained({ body }: ChatResponse): Promise<void> {
  let size = 0;
  for await (const bytes of body) {
    size += bytes.length;
    if (size > MAX_ERROR_BYTES) return;
  }
}

/** Builds the error for a rejected request. It omits the server's own message, which may contain URLs and keys. */
async function refusal(response: ChatResponse): Promise<Problem> {
  const { status, headers } = response;
  await drained(response);
  if (status === 429 || status === 503) {
    return problem('ServiceNodeResourceDrainError', {
      message: 'The model server has no capacity left; try again later',
      retryAfter: retryAfterSeconds(headers['retry-after'], 5),
    });
  }
  if (status === 401 || status === 403) return failure('The model server rejected the API key');
  if (status === 504) return new ModelTimeoutError('The model server timed out');
  if (status === 404) return failure('The model server does not know the model or the URL (status 404)');
  if (status === 413) return failure('The model server rejected the request as too large (status 413)');
  return failure(`The model server answered with status ${status}`);
}

async function text(body: AsyncIterable<Uint8Array>, maxBytes: number): Promise<string> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const bytes of body) {
    size += bytes.length;
    if (size > maxBytes) throw failure('The response from the model server is too long');
    pieces.push(bytes);
  }
  return Buffer.concat(pieces).toString('utf8');
}

interface Choice {
  readonly message?: { readonly content?: unknown; readonly refusal?: unknown };
  readonly delta?: { readonly content?: unknown };
  readonly finish_reason?: unknown;
}

interface Completion {
  readonly choices?: readonly Choice[];
  readonly usage?: { readonly prompt_tokens?: unknown; readonly completion_tokens?: unknown } | null;
  readonly error?: unknown;
}

function parsed(json: string): Completion {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch (error) {
    throw failure('The response from the model server is incomplete or not valid JSON', error);
  }
  if (typeof value !== 'object' || value === null) throw notACompletion();
  const completion = value as Completion;
  if (completion.error) throw failure('The model server reported an error in its answer');
  if (completion.choices !== undefined && !Array.isArray(completion.choices)) throw notACompletion();
  return completion;
}

const notACompletion = () => failure('The response from the model server is not a chat completion');

const usageOf = ({ usage }: Completion): ChatUsage | undefined =>
  usage && typeof usage.prompt_tokens === 'number'
    ? { promptTokens: usage.prompt_tokens, completionTokens: Number(usage.completion_tokens) || 0 }
    : undefined;

function answerOf(json: string): ChatAnswer {
  const completion = parsed(json);
  const choice = completion.choices?.[0];
  const content = choice?.message?.content;
  if (typeof content === 'string') {
    return { text: content, usage: usageOf(completion), complete: choice?.finish_reason !== 'length' };
  }
  if (choice?.message && typeof choice.message.refusal === 'string') throw failure('The model refused to answer');
  throw notACompletion();
}

async function* deltas(body: AsyncIterable<Uint8Array>): AsyncGenerator<ChatDelta> {
  let usage: ChatUsage | undefined;
  let finished: unknown;
  let done = false;
  let written = 0;
  for await (const data of eventData(atMost(body, MAX_STREAM_BYTES))) {
    if (data === '[DONE]') {
      done = true;
      break;
    }
    const completion = parsed(data);
    usage = usageOf(completion) ?? usage;
    const choice = completion.choices?.[0];
    finished = choice?.finish_reason ?? finished;
    const piece = choice?.delta?.content;
    if (typeof piece !== 'string' || !piece) continue;
    written += piece.length;
    if (written > MAX_ANSWER_BYTES) {
      finished = 'length';
      break;
    }
    yield { text: piece };
  }
  if (!done && !finished) throw failure('The response from the model server is incomplete');
  yield { text: '', end: { usage, complete: finished !== 'length' } };
}

async function* atMost(body: AsyncIterable<Uint8Array>, maxBytes: number): AsyncGenerator<Uint8Array> {
  let size = 0;
  for await (const bytes of body) {
    size += bytes.length;
    if (size > maxBytes) throw failure('The response from the model server is too long');
    yield bytes;
  }
}
