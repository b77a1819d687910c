/**
 * MCP at `/mcp` of the reader's host. Who asks is known before the body is read: a wrong key and a web page of another site
 * are refused (the transport's specification asks to check the Origin), everybody else goes on to the tools, whose every
 * call is let in, limited and charged like a request of the caller's own.
 */
import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Problem, problem } from '#errors.ts';
import { clientIpOf } from '#http/client-ip.ts';
import { disconnectSignal } from '#http/disconnect.ts';
import { JsonTooLargeError, parseJson } from '#http/json.ts';
import type { Face } from '#http/server.ts';
import type { Endpoint, HttpCaller } from './endpoint.ts';

export interface McpHandler {
  /** Loaded when somebody first asks: most servers are never asked. */
  readonly endpoint: () => Promise<Endpoint>;
  /** Refuses a wrong key; the id of the right one. */
  readonly keyOf: (request: FastifyRequest) => Promise<string | undefined>;
  readonly isForeign: (request: FastifyRequest) => boolean;
}

export const MCP_PATHS: readonly string[] = ['/mcp'];

const METHODS = ['GET', 'POST', 'DELETE'] as const;
const PARSE_ERROR = -32700;
const REFUSED = -32000;

export function mcpRoutes(face: Face, { endpoint, keyOf, isForeign }: McpHandler): void {
  const callers = new WeakMap<FastifyRequest, HttpCaller>();
  /** Answers that wait for news and so would never end of themselves. */
  const standing = new Set<() => void>();

  face.addHook('preClose', async () => {
    for (const hangUp of standing) hangUp();
  });
  face.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('application/json', { parseAs: 'string' }, async (_: unknown, text: string) =>
      json(text),
    );
    scope.setErrorHandler((error, request, reply) => writeFailure(error, request, reply));
    scope.route({
      method: [...METHODS],
      url: MCP_PATHS[0]!,
      onRequest: async (request) => {
        if (isForeign(request)) {
          throw problem('OperationNotAllowedError', { message: 'Web pages of other sites are not served here' });
        }
        callers.set(request, {
          owner: await keyOf(request),
          authorization: request.headers.authorization,
          address: clientIpOf(request),
          requestId: request.id,
        });
      },
      handler: async (request, reply) => {
        const ended = new Promise((resolve) => reply.raw.once('close', resolve));
        const over = new AbortController();
        const hangUp = () => over.abort();
        if (waitsForNews(request)) {
          standing.add(hangUp);
          ended.then(() => standing.delete(hangUp));
        }
        const { answer } = await endpoint();
        const asked = webRequest(request, AbortSignal.any([disconnectSignal(reply), over.signal]));
        const body = request.method === 'POST' ? request.body : undefined;
        const response = await answer({ request: asked, body, caller: callers.get(request)!, ended, hangUp });
        return send(reply, response, over.signal);
      },
    });
  });
}

const waitsForNews = ({ method, body }: FastifyRequest) =>
  method === 'GET' || (body as { method?: unknown } | undefined)?.method === 'subscriptions/listen';

/** For the transport, which looks at method and headers; the body goes beside it, parsed. */
function webRequest({ method, headers: given }: FastifyRequest, signal: AbortSignal): Request {
  const headers = new Headers();
  for (const [name, value] of Object.entries(given)) {
    if (value !== undefined) headers.set(name, Array.isArray(value) ? value.join(', ') : value);
  }
  // The name that was asked for is looked at before, and may be none.
  return new Request(`http://localhost${MCP_PATHS[0]}`, { method, headers, signal });
}

function send(reply: FastifyReply, { status, headers, body }: Response, over: AbortSignal): unknown {
  reply.code(status);
  for (const [name, value] of headers) if (name !== 'connection') reply.header(name, value);
  return reply.send(body ? Readable.from(bytesOf(body, over), { objectMode: false }) : '');
}

/** Until it ends, its client is gone, or it is told to be over. */
async function* bytesOf(body: ReadableStream<Uint8Array>, over: AbortSignal): AsyncGenerator<Uint8Array> {
  const reader = body.getReader();
  const leave = () => void reader.cancel().catch(() => {});
  over.addEventListener('abort', leave, { once: true });
  try {
    if (over.aborted) return;
    for (let step = await reader.read(); !step.done; step = await reader.read()) yield step.value;
  } finally {
    over.removeEventListener('abort', leave);
    leave();
  }
}

function json(text: string): unknown {
  try {
    return parseJson(text);
  } catch (error) {
    const what = error instanceof JsonTooLargeError ? error.message : 'is not valid JSON';
    throw problem('ParamValidationError', { path: 'body', message: `The body ${what}` });
  }
}

/** As JSON-RPC, by the status that HTTP has for it. */
function writeFailure(error: unknown, request: FastifyRequest, reply: FastifyReply): unknown {
  const { statusCode } = error as { statusCode?: number };
  const known = error instanceof Problem;
  const status = known ? error.code : statusCode !== undefined && statusCode < 500 ? statusCode : 500;
  const message = known ? error.readableMessage : status < 500 ? (error as Error).message : 'Internal error';
  if (status >= 500) request.log.error({ err: error });
  const retryAfter = known ? error.facts.retryAfter : undefined;
  if (typeof retryAfter === 'number') reply.header('retry-after', String(retryAfter));
  if (status === 401) reply.header('www-authenticate', 'Bearer');
  const code = known && error.facts.path === 'body' ? PARSE_ERROR : REFUSED;
  return reply
    .code(status)
    .type('application/json; charset=utf-8')
    .send(JSON.stringify({ jsonrpc: '2.0', id: null, error: { code, message } }));
}
