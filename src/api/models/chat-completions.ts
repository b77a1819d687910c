/**
 * `POST /v1/chat/completions`: recognizes text in images and documents, or passes the messages to a chat model
 * (docs/reference/wire/models.md, Chat completions).
 */
import { randomBytes } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { problem } from '#errors.ts';
import { disconnectSignal } from '#http/disconnect.ts';
import type { Face } from '#http/server.ts';
import { sendEvents } from '#http/sse.ts';
import type { CompletionPiece, Completions } from '#models/index.ts';
import { traceIteration } from '#telemetry/trace.ts';
import { asksForTrace } from '../trace.ts';
import { bodyOf, modelOf } from './body.ts';
import { chatEventStream } from './chat-completions-stream.ts';
import { keyedRoute, type ModelEndpointOptions } from './endpoint.ts';

export interface ChatEndpointOptions extends ModelEndpointOptions {
  readonly completions: Completions;
}

export function chatCompletionsRoutes(face: Face, deps: ChatEndpointOptions): void {
  keyedRoute(face, '/v1/chat/completions', 'chat', deps, (request, reply) => answerChat(request, reply, deps));
}

export async function answerChat(
  request: FastifyRequest,
  reply: FastifyReply,
  deps: Omit<ChatEndpointOptions, 'registry' | 'models'>,
): Promise<FastifyReply> {
  const body = bodyOf(request);
  const { name, model, request: chatRequest, pieces } = deps.completions.open(modelOf(body), body);
  // Frees the memory of the body, which would otherwise be held until the response is sent.
  request.body = undefined;
  const admission = deps.accessHooks.admissionOf(request);
  const trace = deps.tracing.start(request, reply, asksForTrace(request, body));
  const written = pieces({
    signal: disconnectSignal(reply),
    admit: (tokens) => admission.reserveTokens(tokens),
    onSpent: ({ promptTokens, completionTokens }) =>
      admission.recordCost({ tokens: promptTokens + completionTokens, model }),
  });
  const answer = traceIteration('model', trace, written);
  const shown = () => deps.tracing.show(request, reply);
  const id = `chatcmpl-${randomBytes(12).toString('hex')}`;
  const head = { id, created: Math.floor(Date.now() / 1000), model: name };
  if (chatRequest.stream) {
    const onFailed = () => admission.recordCost({ tokens: 0, model });
    const stream = await chatEventStream(answer, {
      head,
      includeUsage: chatRequest.includeUsage,
      onFailed,
      shown,
      id: request.id,
    });
    return sendEvents(reply.header('cache-control', 'no-store'), stream);
  }
  const whole = await collectAnswer(answer, head);
  trace?.count('tokens', whole.usage.total_tokens);
  const shownTrace = shown();
  return reply
    .type('application/json; charset=utf-8')
    .send(JSON.stringify(shownTrace ? { ...whole, trace: shownTrace } : whole));
}

export interface CompletionHead {
  readonly id: string;
  /** Creation time in Unix seconds. */
  readonly created: number;
  /** The model id from the request. */
  readonly model: string;
}

async function collectAnswer(pieces: AsyncIterable<CompletionPiece>, { id, created, model }: CompletionHead) {
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
      ...(piece.warning && { warning: piece.warning }),
    };
  }
  throw problem('InternalError', {}, new Error('the response from the model has no end'));
}

export const usageJson = ({ promptTokens, completionTokens }: { promptTokens: number; completionTokens: number }) => ({
  prompt_tokens: promptTokens,
  completion_tokens: completionTokens,
  total_tokens: promptTokens + completionTokens,
});
