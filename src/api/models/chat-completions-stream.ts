/** Streams a chat completion as server-sent events (docs/reference/wire/models.md, Chat completion streams). */
import { Readable } from 'node:stream';
import { asProblem } from '#errors.ts';
import type { CompletionPiece } from '#models/index.ts';
import type { TraceJson } from '#telemetry/trace.ts';
import { chatErrorBody } from '../envelopes/model.ts';
import { type CompletionHead, usageJson } from './chat-completions.ts';

interface StreamOptions {
  readonly head: CompletionHead;
  readonly includeUsage: boolean;
  /** Called if the stream ends with a failure. */
  readonly onFailed: (error: unknown) => void;
  /** The id of the request. */
  readonly id: string;
  /** A comment is sent if no piece arrives for this time. Default: 15,000. */
  readonly pingMs?: number;
  /** The trace, if the caller requested one. Sent like usage, in a chunk without choices, which clients ignore. */
  readonly shown?: () => TraceJson | undefined;
}

const PING_MS = 15_000;
const PING = ': ping\n\n';

/**
 * Returns the response body. Waits for the first piece, so that an earlier failure gets its own HTTP status. If that
 * takes longer than `pingMs`, the stream begins with a comment.
 */
export async function chatEventStream(
  pieces: AsyncGenerator<CompletionPiece>,
  { pingMs = PING_MS, ...options }: StreamOptions,
): Promise<Readable> {
  const timed = withPings(pieces, pingMs);
  const first = await timed.next();
  async function* events() {
    try {
      yield* lines(first, timed, options);
    } catch (error) {
      options.onFailed(error);
      yield eventOf(chatErrorBody(asProblem(error), options.id));
    } finally {
      await pieces.return(undefined);
    }
  }
  const stream = Readable.from(events(), { objectMode: false });
  // If the stream is never read, `events` never starts and its `finally` does not run.
  stream.once('close', () => pieces.return(undefined).catch(() => {}));
  return stream;
}

const eventOf = (value: unknown): string => `data: ${JSON.stringify(value)}\n\n`;

async function* lines(
  first: IteratorResult<CompletionPiece | undefined, unknown>,
  rest: AsyncGenerator<CompletionPiece | undefined>,
  { head: { id, created, model }, includeUsage, shown }: StreamOptions,
): AsyncGenerator<string> {
  const chunk = (choices: readonly object[], more: object = {}) =>
    eventOf({ id, object: 'chat.completion.chunk', created, model, choices, ...more });
  const choice = (delta: object, finish: string | null) => [{ index: 0, delta, finish_reason: finish }];
  yield chunk(choice({ role: 'assistant', content: '' }, null));
  for (let next = first; !next.done; next = await rest.next()) {
    const piece = next.value;
    if (!piece) yield PING;
    else if (!('finish' in piece)) yield chunk(choice({ content: piece.text }, null));
    else {
      yield chunk(choice({}, piece.finish), piece.warning ? { warning: piece.warning } : {});
      if (includeUsage) yield chunk([], { usage: usageJson(piece.usage) });
    }
  }
  const trace = shown?.();
  if (trace) yield chunk([], { trace });
  yield 'data: [DONE]\n\n';
}

/** Yields the items, and `undefined` whenever none arrives for `pingMs`. */
async function* withPings<T>(items: AsyncGenerator<T>, pingMs: number): AsyncGenerator<T | undefined> {
  let pending = items.next();
  for (;;) {
    let timer: NodeJS.Timeout | undefined;
    const ping = new Promise<'ping'>((resolve) => {
      timer = setTimeout(resolve, pingMs, 'ping');
    });
    const step = await Promise.race([pending, ping]).finally(() => clearTimeout(timer));
    if (step === 'ping') {
      pending.catch(() => {});
      yield undefined;
      continue;
    }
    if (step.done) return;
    yield step.value;
    pending = items.next();
  }
}
