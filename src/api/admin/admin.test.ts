/** The admin API over real HTTP. Every response is validated against the OpenAPI document. */
// Full run only: starts a server.
import { mkdtemp, rm } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { Validator } from '@seriousme/openapi-schema-validator';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type AccountsModule, newId, openAccounts } from '#accounts/index.ts';
import { createServer, type Face } from '#http/server.ts';
import { PLANS } from '#plans.ts';
import { type Counters, CountersUnavailableError } from '#storage/counters/counters.ts';
import { createMemoryCounters } from '#storage/counters/memory.ts';
import { createHostTimes } from '#telemetry/host-times.ts';
import { createLog } from '#telemetry/log.ts';
import { errorBody } from '../envelopes/reader.ts';
import { adminRoutes, writeAdminError } from './admin.ts';
import { createAdminDescription } from './openapi.ts';

const SECRET = 'correct horse battery staple';
const description = createAdminDescription('1.2.3') as {
  openapi: string;
  paths: Record<string, Record<string, { operationId: string; responses: Record<string, object> }>>;
  components: { schemas: Record<string, object> };
};

let dataDir: string;
let module: AccountsModule;
let counters: Counters;
let face: Face;
let url: string;

const hostTimes = createHostTimes();
hostTimes.add('slow.example', 2_000, true);
hostTimes.add('quick.example:8080', 20, false);

async function serve(deps: Partial<Parameters<typeof adminRoutes>[1]> = {}): Promise<void> {
  face = await createServer({
    name: 'admin',
    log: createLog('silent'),
    temporaryDir: dataDir,
    maxBodyBytes: 100_000,
    writeError: writeAdminError,
    malformedBody: errorBody,
  });
  adminRoutes(face, { ...module, plans: PLANS, hostTimes, secret: SECRET, counters, ...deps });
  await face.listen({ host: '127.0.0.1', port: 0 });
  url = `http://127.0.0.1:${(face.server.address() as AddressInfo).port}`;
}

beforeEach(async () => {
  dataDir = await mkdtemp(path.join(os.tmpdir(), 'lectern-admin-'));
  module = await openAccounts({ dataDir });
  counters = createMemoryCounters();
  await serve();
});
afterEach(async () => {
  await face.close();
  await counters.close();
  await module.close();
  await rm(dataDir, { recursive: true });
});

const ajv = new Ajv2020({ strict: false });
(addFormats as unknown as (to: Ajv2020) => void)(ajv);
ajv.addSchema({ $id: 'api', ...description });

/** Fails if a response does not match the OpenAPI document. */
function expectValid(method: string, path: string, status: number, body: unknown): void {
  const route = path.replace(/\?.*/, '').replace(/^(\/\w+)\/.+$/, '$1/{id}');
  const responses = description.paths[route]?.[method.toLowerCase()]?.responses;
  expect(responses, `${method} ${route}`).toBeDefined();
  const response = responses![String(status)] as { $ref?: string } | undefined;
  expect(response, `${method} ${route} ${status}`).toBeDefined();
  const at = response!.$ref?.slice(2).split('/') ?? ['paths', route, method.toLowerCase(), 'responses', String(status)];
  const pointer = [...at, 'content', 'application/json', 'schema'];
  const place = pointer.map((part) => encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'))).join('/');
  const matches = ajv.compile({ $ref: `api#/${place}` });
  expect(matches(body), JSON.stringify([matches.errors, body])).toBe(true);
}

async function ask(method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
  const answer = await fetch(url + path, {
    method,
    headers: {
      authorization: `Bearer ${SECRET}`,
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  // biome-ignore lint/suspicious/noExplicitAny: tests read any field of a response
  const json = (await answer.json()) as any;
  expect(answer.headers.get('cache-control')).toBe('no-store');
  expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
  return { status: answer.status, headers: answer.headers, json, data: json.data };
}

/** Sends a request and validates the response against the OpenAPI document. */
async function call(...[method, path, body]: Parameters<typeof ask>) {
  const answer = await ask(method, path, body);
  expectValid(method, path, answer.status, answer.json);
  return answer;
}

describe('the OpenAPI document', () => {
  it('is valid OpenAPI 3.1, and needs no secret', async () => {
    const answer = await ask('GET', '/openapi.json', undefined, { authorization: '' });
    expect(answer.status).toBe(200);
    expect(answer.json.openapi).toBe('3.1.0');
    const result = await new Validator().validate(answer.json);
    expect(result.errors).toBeUndefined();
    expect(result.valid).toBe(true);
    const operations = Object.values(description.paths).flatMap((path) => Object.values(path));
    expect(operations.map(({ operationId }) => operationId)).toHaveLength(11);
  });
});

describe('accounts', () => {
  it('are created, shown, listed and changed', async () => {
    const created = await call('POST', '/accounts', { name: 'team', plan: 'paid', balance: 100 });
    expect(created).toMatchObject({ status: 201, data: { name: 'team', plan: 'paid', balance: 100 } });
    const { id } = created.data;
    expect((await call('GET', `/accounts/${id}`)).data).toEqual(created.data);
    const changed = await call('PATCH', `/accounts/${id}`, { name: 'crew', plan: 'free', addBalance: -30 });
    expect(changed).toMatchObject({ status: 200, data: { ...created.data, name: 'crew', plan: 'free', balance: 70 } });
    expect((await call('PATCH', `/accounts/${id}`, { balance: null })).data.balance).toBeNull();
    expect((await call('PATCH', `/accounts/${id}`, { addBalance: 1 })).json).toMatchObject({
      code: 400,
      name: 'ParamValidationError',
      path: 'addBalance',
    });
  });

  it('are listed page by page', async () => {
    const ids = [];
    for (const name of ['a', 'b', 'c']) ids.push((await call('POST', '/accounts', { name, plan: 'free' })).data.id);
    const walked = [];
    let next: string | null = '';
    while (next !== null) {
      const { json }: Awaited<ReturnType<typeof call>> = await call(
        'GET',
        `/accounts?limit=2${next && `&after=${next}`}`,
      );
      walked.push(json.data.map(({ id }: { id: string }) => id));
      next = json.next;
    }
    expect(walked).toEqual([ids.slice(0, 2), ids.slice(2)]);
    expect((await call('GET', '/accounts?after=nobody')).json).toMatchObject({ code: 404 });
  });

  it('return 404 for unknown ids', async () => {
    for (const [method, path, body] of [
      ['GET', '/accounts/nobody'],
      ['PATCH', '/accounts/nobody', { name: 'x' }],
      ['PATCH', '/keys/nothing', { name: 'x' }],
      ['DELETE', '/keys/nothing'],
      ['DELETE', '/keys/%00'],
      ['POST', '/keys', { name: 'x', accountId: 'nobody' }],
    ] as const) {
      expect((await call(method, path, body)).json, path).toMatchObject({ code: 404, name: 'ResourceNotFoundError' });
    }
  });
});

describe('keys', () => {
  it('are created, shown once, listed, changed and revoked', async () => {
    const { data: account } = await call('POST', '/accounts', { name: 'team', plan: 'paid' });
    const expiresAt = '2036-01-01T00:00:00+02:00';
    const created = await call('POST', '/keys', { name: 'mine', accountId: account.id, expiresAt });
    const { key, ...record } = created.data;
    expect(created.status).toBe(201);
    expect(record).toMatchObject({ name: 'mine', accountId: account.id, expiresAt: '2035-12-31T22:00:00.000Z' });
    expect((await module.accounts.identify(key))?.key.id).toBe(record.id);
    await call('POST', '/keys', { name: 'other' });
    expect((await call('GET', `/keys?accountId=${account.id}`)).json).toEqual({ data: [record], next: null });
    const { json } = await call('GET', '/keys?limit=1');
    expect(json).toEqual({ data: [record], next: record.id });
    expect((await call('GET', `/keys?limit=1&after=${json.next}`)).data).toMatchObject([{ accountId: 'default' }]);
    const changed = await call('PATCH', `/keys/${record.id}`, { name: 'renamed', expiresAt: null });
    expect(changed.data).toEqual({ ...record, name: 'renamed', expiresAt: null });
    const revoked = await call('DELETE', `/keys/${record.id}`);
    expect(revoked.data.revokedAt).toEqual(expect.any(String));
    expect(await module.accounts.identify(key)).toBeUndefined();
    expect((await call('DELETE', `/keys/${record.id}`)).data).toEqual(revoked.data);
  });

  it('can be chosen by the operator, but not twice', async () => {
    const key = `hosted_${'x'.repeat(30)}`;
    expect((await call('POST', '/keys', { name: 'mine', key })).data).toMatchObject({ key, shown: 'host…' });
    expect((await call('POST', '/keys', { name: 'mine', key })).json).toMatchObject({ code: 400, path: 'key' });
    expect(await module.accounts.identify(key)).toBeDefined();
  });
});

describe('usage and plans', () => {
  it('are listed', async () => {
    const { id: accountId } = await module.accounts.createAccount({ name: 'a', plan: 'free' });
    const at = Date.UTC(2026, 0, 31);
    const charge = { at, accountId, keyId: 'k', face: 'reader', endpoint: 'reader', status: 200, durationMs: 5 };
    for (const model of ['m', 'm', 'n']) module.usage.charge({ id: newId(), ...charge, model, tokens: 4 });
    await module.usage.flush();
    const sum = { failed: 0, day: '2026-01-31' };
    expect((await call('GET', '/usage?by=day,model')).data).toEqual([
      { ...sum, model: 'm', requests: 2, tokens: 8, durationMs: 10 },
      { ...sum, model: 'n', requests: 1, tokens: 4, durationMs: 5 },
    ]);
    expect((await call('GET', `/usage?from=2026-01-31&to=2026-01-31&accountId=${accountId}&keyId=k`)).data).toEqual([
      { requests: 3, failed: 0, tokens: 12, durationMs: 15 },
    ]);
    expect((await call('GET', '/usage?by=day&from=2026-02-01')).data).toEqual([]);
    expect((await call('GET', '/plans')).data).toEqual(Object.values(PLANS));
  });
});

describe('an invalid request', () => {
  const twoFaults = { name: '', plan: 'gold' };
  it.each([
    ['POST', '/accounts', {}, ['name', 'plan']],
    ['POST', '/accounts', twoFaults, ['name', 'plan']],
    ['POST', '/accounts', { name: 'a\nb', plan: 'free', balance: -1 }, ['name', 'balance']],
    ['POST', '/accounts', { name: 'a', plan: 'free', balance: 1.5, id: 'mine' }, ['balance', 'id']],
    ['POST', '/accounts', { name: 'a', plan: 'free', balance: '5' }, ['balance']],
    ['PATCH', '/accounts/default', { addBalance: 'more', color: 1, __proto__: null }, ['addBalance', 'color']],
    ['POST', '/keys', { name: 'x'.repeat(201), expiresAt: 'tomorrow', key: 'short' }, ['name', 'expiresAt', 'key']],
    ['POST', '/keys', { name: 'x', expiresAt: '2036-01-01' }, ['expiresAt']],
    ['PATCH', '/keys/k', { revokedAt: null }, ['revokedAt']],
    ['GET', '/accounts?limit=0&offset=3', undefined, ['limit', 'offset']],
    ['GET', '/keys?limit=1001&after=', undefined, ['limit', 'after']],
    ['GET', '/keys?limit=1&limit=2', undefined, ['limit']],
    ['POST', '/accounts', { name: 'a\u2028b', plan: 'free' }, ['name']],
    ['POST', '/accounts', { name: 'a\u202eb', plan: 'free' }, ['name']],
    ['POST', '/keys', { name: 'x', accountId: 'a\0b' }, ['accountId']],
    ['GET', '/keys?accountId=%00', undefined, ['accountId']],
    ['GET', '/usage?keyId=%00&accountId=%0A', undefined, ['accountId', 'keyId']],
    ['GET', '/usage?by=day,color&from=2026-02-30&to=x', undefined, ['by', 'from', 'to']],
    ['POST', '/accounts', '[1]', ['body']],
    ['POST', '/accounts', '{"name"', ['body']],
  ])('%s %s with %j names every fault', async (method, path, body, paths) => {
    const { json, status } = await call(method, path, body);
    expect(status).toBe(400);
    expect(json).toMatchObject({ data: null, code: 400, status: 40001, name: 'ParamValidationError', path: paths[0] });
    if (paths[0] !== 'body') expect(json.faults.map(({ path }: { path: string }) => path)).toEqual(paths);
    expect(await module.accounts.accounts()).toEqual([]);
  });

  it('has a body that is not JSON or too large', async () => {
    const form = { 'content-type': 'application/x-www-form-urlencoded' };
    expect((await ask('POST', '/accounts', 'name=a&plan=free', form)).json).toMatchObject({ code: 400, path: 'body' });
    expect((await ask('POST', '/accounts', { name: 'x'.repeat(200_000) })).json.code).toBe(413);
  });

  it('has an unknown path', async () => {
    expect((await ask('GET', '/nothing')).json).toMatchObject({ code: 404, name: 'RouteNotFoundError' });
    expect((await ask('GET', '/accounts/%zz')).json.code).toBe(400);
  });
});

describe('the secret', () => {
  const wrong = (authorization: string, headers: Record<string, string> = {}) =>
    ask('GET', '/plans', undefined, { authorization, ...headers });

  it.each(['', 'Basic abc', SECRET, 'Bearer', 'Bearer   '])('is required: %j', async (authorization) => {
    const { json, headers } = await wrong(authorization);
    expect(json).toMatchObject({ code: 401, name: 'AuthenticationRequiredError' });
    expect(headers.get('www-authenticate')).toBe('Bearer');
  });

  it('must be correct', async () => {
    for (const given of ['x', `${SECRET}x`, SECRET.slice(1), SECRET.toUpperCase()]) {
      const { json } = await wrong(`Bearer ${given}`);
      expect(json, given).toMatchObject({ data: null, code: 401, name: 'AuthenticationFailedError' });
      expect(JSON.stringify(json)).not.toContain(given);
    }
    expect((await wrong(`bearer ${SECRET}`)).status).toBe(200);
  });

  it('allows 20 wrong guesses a minute, however many come at once', async () => {
    const answers = await Promise.all(Array.from({ length: 60 }, (_, n) => wrong(`Bearer guess ${n}`)));
    const statuses = answers.map(({ status }) => status);
    expect(statuses.filter((status) => status === 401)).toHaveLength(20);
    expect(statuses.filter((status) => status === 429)).toHaveLength(40);
    const { status, headers, json } = await wrong(`Bearer ${SECRET}`);
    expect(status).toBe(429);
    expect(json.name).toBe('RateLimitTriggeredError');
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
  });

  it('has no rate limit when correct', async () => {
    const answers = await Promise.all(Array.from({ length: 60 }, () => wrong(`Bearer ${SECRET}`)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
  });

  it('is refused while guesses cannot be counted', async () => {
    await face.close();
    await serve({
      counters: { take: () => Promise.reject(new CountersUnavailableError('away')) },
    });
    expect((await wrong(`Bearer ${SECRET}`)).json).toMatchObject({
      code: 503,
      name: 'ServiceAwayError',
      retryAfter: 2,
    });
  });
});

it('lists the hosts that took the most time', async () => {
  const { data } = await call('GET', '/hosts');
  expect(data).toEqual([
    expect.objectContaining({ host: 'slow.example', fetches: 1, failed: 1, totalMs: 2_000, p50Ms: 2_000 }),
    expect.objectContaining({ host: 'quick.example:8080', fetches: 1, failed: 0, p95Ms: 20 }),
  ]);
  expect((await call('GET', '/hosts?limit=1')).data).toHaveLength(1);
  expect((await call('GET', '/hosts?limit=0')).json).toMatchObject({ code: 400, path: 'limit' });
  expect((await fetch(`${url}/hosts`)).status).toBe(401);
});

it('sends no CORS headers', async () => {
  const origin = { origin: 'https://elsewhere.example' };
  const preflight = await fetch(`${url}/accounts`, {
    method: 'OPTIONS',
    headers: { ...origin, 'access-control-request-method': 'POST', 'access-control-request-headers': 'authorization' },
  });
  const { headers } = await ask('GET', '/plans', undefined, origin);
  for (const answer of [preflight.headers, headers]) {
    expect([...answer.keys()].filter((name) => name.startsWith('access-control-'))).toEqual([]);
  }
});

it('answers 503 if the database is unreachable, without revealing its URL', async () => {
  await module.close();
  const away = await openAccounts({ dataDir, databaseUrl: 'postgres://me:hidden@127.0.0.1:9/nothing' });
  await face.close();
  await serve({ ...away });
  const { json, headers } = await call('GET', '/accounts');
  expect(json).toMatchObject({ code: 503, name: 'ServiceAwayError' });
  expect(headers.get('retry-after')).toBe('2');
  expect(JSON.stringify(json)).not.toMatch(/hidden|postgres|127\.0/);
  await away.close();
});
