/**
 * MCP at `/mcp` of the reader's host. The caller is identified before the body is read. Invalid keys and requests from
 * web pages of other sites are refused (the transport specification requires an Origin check). Each tool call is
 * authorized, rate-limited and charged like a direct request from the caller.
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
  /** Loads the endpoint on the first request, because most servers never receive an MCP request. */
  readonly endpoint: () => Promise<Endpoint>;
  /** Returns the id of the key. Throws for an invalid key. */
  readonly keyOf: (request: FastifyRequest) => Promise<string | undefined>;
  readonly isForeign: (request: FastifyRequest) => boolean;
}

export const MCP_PATHS: readonly string[] = ['/mcp'];

const METHODS = ['GET', 'POST', 'DELETE'] as const;
const PARSE_ERROR = -32700;
const REQUEST_REFUSED = -32000;

export function mcpRoutes(face: Face, { endpoint, keyOf, isForeign }: McpHandler): void {
  const callers = new WeakMap<FastifyRequest, HttpCaller>();
  /** Callbacks that end long-lived event streams on shutdown. */
  const longLived = new Set<() => void>();

  face.addHook('preClose', async () => {
    for (const endResponse of longLived) endResponse();
  });
  face.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('application/json', { parseAs: 'string' }, async (_: unknown, text: string) =>
      parseBody(text),
    );
    scope.setErrorHandler((error, request, reply) => sendError(error, request, reply));
    scope.route({
      method: [...METHODS],
      url: MCP_PATHS[0]!,
      onRequest: async (request) => {
        if (isForeign(request)) {
          throw problem('OperationNotAllowedError', {
            message: 'MCP requests from web pages of other sites are refused',
          });
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
        const stopped = new AbortController();
        const endResponse = () => stopped.abort();
        if (isLongLived(request)) {
          longLived.add(endResponse);
          ended.then(() => longLived.delete(endResponse));
        }
        const { answer } = await endpoint();
        const transportRequest = webRequest(request, AbortSignal.any([disconnectSignal(reply), stopped.signal]));
        const body = request.method === 'POST' ? request.body : undefined;
        const response = await answer({
          request: transportRequest,
          body,
          caller: callers.get(request)!,
          ended,
          endResponse,
        });
        return send(reply, response, stopped.signal);
      },
    });
  });
}

const isLongLived = ({ body }: FastifyRequest) =>
  (body as { method?: unknown } | undefined)?.method === 'subscriptions/listen';

/**
 * Converts to a web Request for the transport, which reads only the method and the headers. The parsed body is passed
 * separately.
 */
function webRequest({ method, headers: given }: FastifyRequest, signal: AbortSignal): Request {
  const headers = new Headers();
  for (const [name, value] of Object.entries(given)) {
    if (value !== undefined) headers.set(name, Array.isArray(value) ? value.join(', ') : value);
  }
  // The Host header has already been checked and may be missing, so a fixed host name is used.
  return new Request(`http://localhost${MCP_PATHS[0]}`, { method, headers, signal });
}

function send(reply: FastifyReply, { status, headers, body }: Response, stopped: AbortSignal): unknown {
  reply.code(status);
  for (const [name, value] of headers) if (name !== 'connection') reply.header(name, value);
  return reply.send(body ? Readable.from(bytesOf(body, stopped), { objectMode: false }) : '');
}

/** Yields the body until it ends, the client disconnects or `stopped` is aborted. */
async function* bytesOf(body: ReadableStream<Uint8Array>, stopped: AbortSignal): AsyncGenerator<Uint8Array> {
  const reader = body.getReader();
  const leave = () => void reader.cancel().catch(() => {});
  stopped.addEventListener('abort', leave, { once: true });
  try {
    if (stopped.aborted) return;
    for (let step = await reader.read(); !step.done; step = await reader.read()) yield step.value;
  } finally {
    stopped.removeEventListener('abort', leave);
    leave();
  }
}

function parseBody(text: string): unknown {
  try {
    return parseJson(text);
  } catch (error) {
    const what = error instanceof JsonTooLargeError ? error.message : 'is not valid JSON';
    throw problem('ParamValidationError', { path: 'body', message: `The body ${what}` });
  }
}

/** Sends a failure as JSON-RPC error with the matching HTTP status. */
function sendError(error: unknown, request: FastifyRequest, reply: FastifyReply): unknown {
  const { statusCode } = error as { statusCode?: number };
  const known = error instanceof Problem;
  const status = known ? error.code : statusCode !== undefined && statusCode < 500 ? statusCode : 500;
  const message = known ? error.readableMessage : status < 500 ? (error as Error).message : 'Internal error';
  if (status >= 500) request.log.error({ err: error });
  const retryAfter = known ? error.facts.retryAfter : undefined;
  if (typeof retryAfter === 'number') reply.header('retry-after', String(retryAfter));
  if (status === 401) reply.header('www-authenticate', 'Bearer');
  const code = known && error.facts.path === 'body' ? PARSE_ERROR : REQUEST_REFUSED;
  return reply
    .code(status)
    .type('application/json; charset=utf-8')
    .send(JSON.stringify({ jsonrpc: '2.0', id: null, error: { code, message } }));
}
