/**
 * A whole server with the default plans, two models on a model server on loopback, and keys from the admin API. Each
 * test sends its requests from a different IP address, so that limits per IP address do not affect other tests.
 */
import { expect } from 'vitest';
import { startServer } from '../support/server.ts';
import { DIMENSIONS, startModelServer } from './model-server-stub.ts';

const ADMIN_SECRET = 'secret-of-the-seed-tests';
/** The built-in embedding model, and two on the model server: failures of `failing` do not affect `far`. */
export const MODEL = 'lectern-static-v2';
export const FAR = 'far';
export const FAILING = 'failing';
/** The chat model. */
export const TALKER = 'talker';

/** How long an expectation may take on a busy machine. */
export const PATIENT = { timeout: 60_000 };

export type PlanName = 'free' | 'paid' | 'premium';
export type Headers = Readonly<Record<string, string>>;
// biome-ignore lint/suspicious/noExplicitAny: tests read any field of a response
export type Any = any;

export interface Answer {
  readonly status: number;
  readonly headers: globalThis.Headers;
  readonly text: string;
  /** The parsed JSON; `undefined` for another content type. */
  readonly body: Any;
}

export type SeedHost = Awaited<ReturnType<typeof startHost>>;

export async function startHost(settings: Record<string, unknown> = {}) {
  const models = await startModelServer();
  const far = (id: string) => ({
    id,
    does: 'embed',
    dimensions: DIMENSIONS,
    contextTokens: 64,
    runs: { on: 'remote', protocol: 'openai', url: `${models.url.replace('/v1', '')}/${id}/v1`, model: id },
  });
  const server = await startServer({
    browser: 'none',
    adminSecret: ADMIN_SECRET,
    adminPort: 0,
    keylessRpm: undefined,
    trustedProxies: ['127.0.0.1'],
    chatUrl: models.url,
    chatModel: TALKER,
    models: [far(FAR), far(FAILING)],
    ...settings,
  });
  let addresses = 0;
  /** A header with an IP address that no other caller uses. */
  const freshAddress = () => ({ 'x-forwarded-for': `192.0.2.${++addresses}` });

  async function ask(url: string, { headers = {}, ...init }: { method?: string; headers?: Headers; body?: Any } = {}) {
    const { body } = init;
    const answer = await fetch(url, {
      ...init,
      headers: { 'content-type': 'application/json', ...headers },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await answer.text();
    const isJson = /\bjson\b/.test(answer.headers.get('content-type') ?? '');
    return { status: answer.status, headers: answer.headers, text, body: isJson ? JSON.parse(text) : undefined };
  }

  async function admin(place: string, body: object) {
    const headers = { authorization: `Bearer ${ADMIN_SECRET}` };
    return ask(server.urls.admin + place, { method: 'POST', headers, body });
  }

  /**
   * Creates an account with a key, and returns its `Authorization` header. Without a balance, the account has no token
   * limit.
   */
  async function keyOf(plan: PlanName, balance: number | null = null): Promise<Headers> {
    const account = await admin('/accounts', { name: plan, plan, balance });
    const { body } = await admin('/keys', { name: 'test', accountId: account.body.data.id });
    return { authorization: `Bearer ${body.data.key}` };
  }

  return {
    urls: { ...server.urls, reader: server.reader } as Readonly<Record<'reader' | 'search' | 'model', string>>,
    models,
    ask,
    admin,
    keyOf,
    freshAddress,
    /** Posts JSON to the model host. */
    post: (place: string, body: unknown, headers: Headers = {}): Promise<Answer> =>
      ask(server.urls.model + place, { method: 'POST', headers, body }),
    async close() {
      models.close();
      await server.close();
    },
  };
}

/** The endpoints named in the document, each with a request that succeeds. */
export const ENDPOINTS = {
  '/v1/embeddings': { model: MODEL, input: 'green tea' },
  '/v1/rerank': { model: 'lectern-static-rerank-v2', query: 'a hot drink', documents: ['green tea', 'a bicycle'] },
  '/v1/chat/completions': chatRequest('Is tea a drink?'),
  '/v1/batch/embeddings': { model: MODEL, input: [{ custom_id: 'a', body: { input: 'green tea' } }] },
} as const;

export function chatRequest(content: string, model: string = TALKER) {
  return { model, messages: [{ role: 'user', content }] };
}

/**
 * Section 7: checks the fields of a failure. Chat completions use the envelope of OpenAI's API. Returns the message.
 */
export function expectFailure(place: string, { status, headers, body }: Answer, expected: [number, string]): string {
  const isChat = place === '/v1/chat/completions';
  const failure = isChat ? body.error : body;
  const names = isChat ? ['message', 'type', 'param', 'code', 'request_id'] : ['detail', 'code', 'request_id'];
  expect([status, failure.code], `${place}: ${JSON.stringify(body)}`).toEqual(expected);
  expect(Object.keys(failure)).toEqual(names);
  if (isChat) expect(Object.keys(body)).toEqual(['error']);
  expect(failure.request_id).toMatch(/^[0-9a-f]{32}$/);
  expect(failure.request_id).toBe(headers.get('x-request-id'));
  return isChat ? failure.message : failure.detail;
}
