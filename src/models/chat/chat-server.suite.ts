/**
 * A loopback server for tests that implements the chat completions protocol. It rejects everything that the published
 * protocol description does not allow. A function passed by the test provides its responses.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { Ajv } from 'ajv';
import { onTestFinished } from 'vitest';

export interface RecordedRequest {
  readonly model: string;
  readonly messages: readonly { readonly role: string; readonly content: unknown }[];
  readonly max_tokens?: number;
  readonly temperature?: number;
  readonly stop?: readonly string[];
  readonly seed?: number;
  readonly stream?: boolean;
  readonly response_format?: { readonly json_schema: { readonly schema: object } };
}

/** The response to one request: a text, or a failure. */
export type Reply =
  | string
  | { readonly text: string; readonly finish?: 'stop' | 'length' }
  | { readonly status: number; readonly headers?: Record<string, string>; readonly body?: string }
  /** Sends these pieces of a body with pauses between them. Then the connection ends, is reset or stays silent. */
  | {
      readonly raw: string | readonly string[];
      readonly type: string;
      readonly pauseMs?: number;
      readonly after: 'end' | 'destroy' | 'silence';
    };

export interface ChatServer {
  /** The base URL, ending in `/v1`. */
  readonly url: string;
  readonly requests: RecordedRequest[];
  /** Headers of each request. */
  readonly headers: readonly IncomingMessage['headers'][];
  /** Number of open connections. */
  readonly open: () => number;
  close(): void;
}

const part = {
  oneOf: [
    {
      type: 'object',
      required: ['type', 'text'],
      additionalProperties: false,
      properties: { type: { const: 'text' }, text: { type: 'string' } },
    },
    {
      type: 'object',
      required: ['type', 'image_url'],
      additionalProperties: false,
      properties: {
        type: { const: 'image_url' },
        image_url: {
          type: 'object',
          required: ['url'],
          additionalProperties: false,
          properties: {
            url: { type: 'string', pattern: '^(https?://|data:image/(png|jpeg|webp|gif);base64,[A-Za-z0-9+/]+=*$)' },
            detail: { enum: ['auto', 'low', 'high'] },
          },
        },
      },
    },
  ],
};

const isRequest = new Ajv({ allErrors: true }).compile({
  type: 'object',
  required: ['model', 'messages'],
  additionalProperties: false,
  properties: {
    model: { type: 'string', minLength: 1 },
    messages: {
      type: 'array',
      minItems: 1,
      items: {
        type: 'object',
        required: ['role', 'content'],
        additionalProperties: false,
        properties: {
          role: { enum: ['system', 'user', 'assistant'] },
          content: { oneOf: [{ type: 'string' }, { type: 'array', minItems: 1, items: part }] },
        },
      },
    },
    max_tokens: { type: 'integer', minimum: 1 },
    temperature: { type: 'number', minimum: 0, maximum: 2 },
    top_p: { type: 'number', minimum: 0, maximum: 1 },
    seed: { type: 'integer' },
    stop: { type: 'array', items: { type: 'string' }, minItems: 1, maxItems: 4 },
    presence_penalty: { type: 'number', minimum: -2, maximum: 2 },
    frequency_penalty: { type: 'number', minimum: -2, maximum: 2 },
    user: { type: 'string' },
    stream: { type: 'boolean' },
    stream_options: {
      type: 'object',
      additionalProperties: false,
      properties: { include_usage: { type: 'boolean' } },
    },
    response_format: {
      type: 'object',
      required: ['type', 'json_schema'],
      additionalProperties: false,
      properties: {
        type: { const: 'json_schema' },
        json_schema: {
          type: 'object',
          required: ['name', 'schema'],
          additionalProperties: false,
          properties: {
            name: { type: 'string', pattern: '^[A-Za-z0-9_-]{1,64}$' },
            schema: { type: 'object' },
            strict: { type: 'boolean' },
          },
        },
      },
    },
  },
  dependencies: { stream_options: ['stream'] },
});

type Rule = (request: RecordedRequest, index: number) => Reply | Promise<Reply>;

interface ChatServerOptions {
  readonly key?: string;
}

/** Starts the server, and closes it at the end of the running test. */
export async function startChatServer(rule: Rule, options: ChatServerOptions = {}): Promise<ChatServer> {
  const server = await openChatServer(rule, options);
  onTestFinished(() => server.close());
  return server;
}

export async function openChatServer(rule: Rule, { key }: ChatServerOptions = {}): Promise<ChatServer> {
  const requests: RecordedRequest[] = [];
  const headers: IncomingMessage['headers'][] = [];
  const server = createServer(async (request, response) => {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    headers.push(request.headers);
    if (request.url !== '/v1/chat/completions' || request.method !== 'POST') return refuse(response, 404, 'not found');
    if (key && request.headers.authorization !== `Bearer ${key}`) return refuse(response, 401, 'wrong key');
    if (request.headers['content-type'] !== 'application/json') return refuse(response, 415, 'not JSON');
    const body: unknown = JSON.parse(Buffer.concat(pieces).toString('utf8'));
    if (!isRequest(body)) return refuse(response, 400, JSON.stringify(isRequest.errors));
    const seen = body as RecordedRequest;
    requests.push(seen);
    const reply = await rule(seen, requests.length - 1);
    if (!response.destroyed) await answer(response, seen, reply);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  let open = 0;
  server.on('connection', (socket) => {
    open++;
    socket.on('error', () => {}).once('close', () => open--);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/v1`,
    requests,
    headers,
    open: () => open,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

function refuse(response: ServerResponse, status: number, message: string): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ error: { message: `secret: ${message}`, type: 'invalid_request_error', code: null } }));
}

async function answer(response: ServerResponse, request: RecordedRequest, reply: Reply): Promise<void> {
  if (typeof reply === 'object' && 'status' in reply) {
    response.writeHead(reply.status, reply.headers ?? {}).end(reply.body ?? 'secret words of the server');
    return;
  }
  if (typeof reply === 'object' && 'raw' in reply) {
    response.writeHead(200, { 'content-type': reply.type });
    response.flushHeaders();
    for (const [index, piece] of [reply.raw].flat().entries()) {
      if (index > 0) await delay(reply.pauseMs ?? 0);
      response.write(piece);
    }
    if (reply.after === 'end') response.end();
    if (reply.after === 'destroy') setImmediate(() => response.destroy());
    return;
  }
  const { text, finish = 'stop' } = typeof reply === 'string' ? { text: reply } : reply;
  const usage = { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 };
  const facts = { id: 'chatcmpl-1', created: 1, model: request.model };
  if (!request.stream) {
    const message = { role: 'assistant', content: text, refusal: null };
    const choices = [{ index: 0, message, finish_reason: finish, logprobs: null }];
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ ...facts, object: 'chat.completion', choices, usage }));
    return;
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const chunk = (choices: unknown[], more = {}) =>
    `data: ${JSON.stringify({ ...facts, object: 'chat.completion.chunk', choices, ...more })}\r\n\r\n`;
  const events = [
    ': a comment\n\n',
    chunk([{ index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null }]),
    ...(text.match(/[\s\S]{1,7}/g) ?? []).map((content) =>
      chunk([{ index: 0, delta: { content }, finish_reason: null }]),
    ),
    chunk([{ index: 0, delta: {}, finish_reason: finish }]),
    chunk([], { usage }),
    'data: [DONE]\n\n',
  ];
  // The pieces are split without regard to event, line or character boundaries.
  const bytes = Buffer.from(events.join(''));
  for (let at = 0; at < bytes.length; at += 13) {
    if (response.destroyed) return;
    if (!response.write(bytes.subarray(at, at + 13))) await once(response, 'drain').catch(() => {});
  }
  response.end();
}
