/** `POST /v1/chat/completions`: pages that are pictures become text, and questions go to a chat model (contract, section 7). */
import { randomBytes } from 'node:crypto';
import { problem } from '#errors.ts';
import { disconnectSignal } from '#http/disconnect.ts';
import type { Face } from '#http/server.ts';
import type { CompletionPiece, Completions } from '#models/index.ts';
import { traceIteration } from '#telemetry/trace.ts';
import { asksForTrace } from '../trace.ts';
import { bodyOf, modelOf } from './body.ts';
import { chatEventStream } from './chat-completions-stream.ts';
import { keyedRoute, type ModelEndpointOptions } from './endpoint.ts';

export interface ChatEndpointOptions extends ModelEndpointOptions {
  readonly completions: Completions;
}

export function chatCompletionsRoutes(face: Face, door: ChatEndpointOptions): void {
  keyedRoute(face, '/v1/chat/completions', 'chat', door, async (request, reply) => {
    const body = bodyOf(request);
    const { model, request: asked, pieces } = door.completions.open(modelOf(body), body);
    // What was read of it lives on; the rest would be held until the answer is out.
    request.body = undefined;
    const visit = door.gatekeeper.visitOf(request);
    const trace = door.tracing.follow(request, reply, asksForTrace(request, body));
    const written = pieces({
      signal: disconnectSignal(reply),
      admit: (tokens) => visit.takeTokens(tokens),
      onSpent: ({ promptTokens, completionTokens }) => visit.spend({ tokens: promptTokens + completionTokens, model }),
    });
    const answer = traceIteration('model', trace, written);
    const shown = () => door.tracing.show(request, reply);
    const head = { id: `chatcmpl-${randomBytes(12).toString('hex')}`, created: Math.floor(Date.now() / 1000), model };
    if (asked.stream) {
      const onFailed = () => visit.spend({ tokens: 0, model });
      const stream = await chatEventStream(answer, {
        head,
        includeUsage: asked.includeUsage,
        onFailed,
        shown,
        id: request.id,
      });
      return reply
        .type('text/event-stream; charset=utf-8')
        .header('cache-control', 'no-store')
        .header('x-accel-buffering', 'no')
        .send(stream);
    }
    const whole = await wholeAnswer(answer, head);
    trace?.count('tokens', whole.usage.total_tokens);
    const told = shown();
    return reply.type('application/json; charset=utf-8').send(JSON.stringify(told ? { ...whole, trace: told } : whole));
  });
}

export interface Head {
  readonly id: string;
  /** Unix seconds. */
  readonly created: number;
  readonly model: string;
}

async function wholeAnswer(pieces: AsyncIterable<CompletionPiece>, { id, created, model }: Head) {
  const texts: string[] = [];
  for await (const piece of pieces) {
    if (!('finish' in piece)) {
      texts.push(piece.text);
      continue;
    }
    const message = { role: 'assistant', content: texts.join(''), refusal: null };
    return {
      id,
      object: 'chat.completion',
      created,
      model,
      choices: [{ index: 0, message, logprobs: null, finish_reason: piece.finish }],
      usage: usageJson(piece.usage),
      system_fingerprint: null,
    };
  }
  throw problem('InternalError', {}, new Error('an answer had no end'));
}

export const usageJson = ({ promptTokens, completionTokens }: { promptTokens: number; completionTokens: number }) => ({
  prompt_tokens: promptTokens,
  completion_tokens: completionTokens,
  total_tokens: promptTokens + completionTokens,
});
