/** One suite for all public sources, served by a loopback server: requests, answers, failures, limits. */
// Full run only: waits for timeouts.
import { mkdtemp, rm } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createTrustedFetch, type TrustedFetch } from '#net/trusted.ts';
import { openSqlValues } from '#storage/shared/sql.ts';
import type { SharedStore } from '#storage/shared/values.ts';
import { createAskProvider, ProviderError } from '../ask-provider.ts';
import { parseQuery } from '../query.ts';
import { type ProviderRequest, type Service, startService } from '../service.suite.ts';
import { createConnections } from '../source-limiter.ts';
import { createSource, type Source } from '../sources.ts';
import { createSearchStore, type SearchStore } from '../store.ts';
import { PUBLIC_SOURCES } from './providers.ts';
import { SOURCE_CASES } from './public-sources.suite.ts';

const NAMES = Object.keys(PUBLIC_SOURCES);
const HOUR_MS = 3_600_000;

let dir: string;
let trusted: TrustedFetch;
let shared: SharedStore;
let store: SearchStore;
let now: number;
let services: Service[];
async function openStore() {
  shared = await openSqlValues({ file: path.join(dir, 'shared.db') }, { clock: () => now });
  store = createSearchStore(shared, { now: () => now });
}
beforeEach(async () => {
  dir = await mkdtemp(path.join(os.tmpdir(), 'lectern-sources-'));
  trusted = createTrustedFetch({ region: 'any', euHosts: [], log: { warn() {}, info() {} } as never });
  now = Date.UTC(2026, 0, 31, 12);
  await openStore();
  services = [];
});
afterEach(async () => {
  await shared.close();
  await trusted.close();
  for (const service of services) await service.close();
  await rm(dir, { recursive: true });
});

async function serve(answer: (asked: ProviderRequest, response: ServerResponse) => object | undefined) {
  const service = await startService(answer);
  services.push(service);
  return service;
}

/** The source, as if its public service were the test server. */
function sourceAt(
  { url }: Service,
  name: string,
  { key, timeoutMs = 5_000 }: { key?: string; timeoutMs?: number } = {},
) {
  const provider = { ...PUBLIC_SOURCES[name]!, url };
  const ask = createAskProvider({
    fetch: trusted,
    userAgent: 'Lectern/1 (search; ops@own.example)',
    email: 'ops@own.example',
  });
  const row = { name, provider, settings: { url, key }, timeoutMs };
  return createSource(row, { ask, store, connections: createConnections(), now: () => now });
}

const ask = (source: Source, name: string, text = 'red kettle', page = 2) =>
  source.page(
    parseQuery(text, { count: 10, page: source.paging === 'none' ? 1 : page, kind: SOURCE_CASES[name]!.kind ?? 'web' }),
    {
      signal: new AbortController().signal,
      noCache: true,
      noTrace: false,
    },
  );

/** Sends the responses of a case in order. Compressed, as Stack Exchange always does. */
const answering = (answers: readonly (object | string)[]): Parameters<typeof serve>[0] =>
  (() => {
    let next = 0;
    return (_: ProviderRequest, response: ServerResponse) => {
      const answer = answers[next++ % answers.length]!;
      const text = typeof answer === 'string' ? answer : JSON.stringify(answer);
      return void response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(text));
    };
  })();

const failureOf = (work: Promise<unknown>) =>
  work.then(() => undefined).catch((error: unknown) => error as ProviderError);

it('has a case for every public source, and facts that hold', () => {
  expect(Object.keys(SOURCE_CASES).sort()).toEqual([...NAMES].sort());
  for (const { name, source, needsKey, url } of Object.values(PUBLIC_SOURCES)) {
    expect([name, needsKey, url?.startsWith('https://')]).toEqual([name, false, true]);
    expect(source.limits.length).toBeGreaterThan(0);
    // One search must be possible within every limit.
    for (const { requests, seconds } of source.limits)
      expect([requests >= (source.requests ?? 1), seconds > 0]).toEqual([true, true]);
    expect(source.documentation).toMatch(/^https:\/\//);
    expect(SOURCE_CASES[name]!.documentation).toMatch(/^https:\/\//);
  }
});

describe.each(NAMES)('%s', (name) => {
  const made = SOURCE_CASES[name]!;

  it('is asked with its parameters, and answers in order', async () => {
    const service = await serve(answering(made.answers));
    const [hit] = await ask(sourceAt(service, name), name);
    // Pages of a wiki are on the server that was asked.
    const shown =
      made.first.url.includes('/wiki/Red_kettle') && name !== 'commons'
        ? `${service.url}/wiki/Red_kettle`
        : made.first.url;
    expect(hit).toEqual({ ...made.first, url: shown });
    const [asked] = service.requests;
    expect(asked!.url.pathname).toBe(made.path);
    expect(Object.fromEntries(asked!.url.searchParams)).toMatchObject(made.parameters);
    expect(asked!.headers['user-agent']).toBe('Lectern/1 (search; ops@own.example)');
    expect(service.requests).toHaveLength(made.answers.length);
  });

  it('without results is an empty list', async () => {
    expect(await ask(sourceAt(await serve(answering(made.empty)), name), name)).toEqual([]);
  });

  it('rests after a 429 for the time in Retry-After, also after a restart', async () => {
    let refuses = true;
    const good = answering(made.answers);
    const service = await serve((asked, response) =>
      refuses ? void response.writeHead(429, { 'retry-after': '120' }).end('slow down') : good(asked, response),
    );
    const source = sourceAt(service, name);
    expect(await failureOf(ask(source, name))).toMatchObject({ reason: 'rate limit', restMs: 120_000 });
    expect(await source.isResting()).toBe(true);
    refuses = false;
    await shared.close();
    await openStore();
    const restarted = sourceAt(service, name);
    expect(await failureOf(ask(restarted, name))).toMatchObject({ reason: 'rate limit' });
    expect(service.requests).toHaveLength(1);
    now += 121_000;
    expect(await ask(restarted, name)).toHaveLength(made.answers === SOURCE_CASES.commons!.answers ? 2 : 1);
  });

  it('is asked once if it fails, and rests if it refuses', async () => {
    const failing = await serve((_, response) => void response.writeHead(500).end('oops'));
    expect(await failureOf(ask(sourceAt(failing, name), name))).toMatchObject({ reason: 'failed' });
    expect(failing.requests).toHaveLength(1);
    now += HOUR_MS * 25;
    const refusing = await serve((_, response) => void response.writeHead(403).end('no'));
    const source = sourceAt(refusing, name);
    expect(await failureOf(ask(source, name))).toMatchObject({ reason: 'refused' });
    expect(await source.isResting()).toBe(true);
    expect(await failureOf(ask(source, name))).toBeInstanceOf(ProviderError);
    expect(refusing.requests).toHaveLength(1);
  });

  it('that sends something else has failed, or has no results', async () => {
    for (const text of ['<html>Sorry', '{"items": [', '', '<feed><entry>']) {
      now += HOUR_MS * 25;
      const service = await serve((_, response) => void response.writeHead(200).end(text));
      expect([text, await failureOf(ask(sourceAt(service, name), name))]).toEqual([text, expect.any(ProviderError)]);
    }
  });

  it('that is slow is left at its timeout', async () => {
    const service = await serve(() => undefined);
    const failure = await failureOf(ask(sourceAt(service, name, { timeoutMs: 150 }), name));
    expect(failure).toBeInstanceOf(ProviderError);
    expect(failure!.message).toContain('in time');
  });

  it('cannot smuggle tags, invisible characters or other schemes into a hit', async () => {
    const hostile = made.answers.map((answer) => hostileCopy(answer));
    const service = await serve(answering(hostile));
    for (const hit of await ask(sourceAt(service, name), name)) {
      expect(hit.url).toMatch(/^https?:/);
      const shown = JSON.stringify(hit);
      expect(shown).not.toMatch(/<script|javascript:|[\u202e\u{e0041}\u0007]|\\u202e|\\u0007|\\n/u);
    }
  });

  it('keeps its limits, also after a restart', async () => {
    const { limits, requests = 1 } = PUBLIC_SOURCES[name]!.source;
    const service = await serve(answering(made.empty));
    const shortest = limits.toSorted((a, b) => a.requests / a.seconds - b.requests / b.seconds)[0]!;
    const allowed = Math.floor(shortest.requests / requests);
    // The other requests of the period were sent before.
    const operator = PUBLIC_SOURCES[name]!.source.operator;
    for (let sent = requests; sent < allowed * requests; sent++) await store.takeRequests(operator, [shortest], 1);
    // They must not count for a limit per second.
    if (shortest.seconds >= 60) now += 2_000;
    await ask(sourceAt(service, name), name);
    await shared.close();
    await openStore();
    const failure = await failureOf(ask(sourceAt(service, name), name));
    expect(failure).toMatchObject({ reason: 'rate limit', restMs: expect.any(Number) });
    expect(failure!.restMs).toBeLessThanOrEqual(shortest.seconds * 1_000);
    expect(service.requests).toHaveLength(1);
    now += shortest.seconds * 1_000 + 1;
    expect(await ask(sourceAt(service, name), name)).toEqual([]);
  });
});

/** Replaces every string by one with tags and characters that must not be shown, but keeps URLs and ids usable. */
function hostileCopy(value: unknown): never {
  const evil = '<script>alert(1)</script> \u202eabc\u0007\u{e0041} <b>bold\n</b>';
  const visit = (part: unknown, key = ''): unknown => {
    if (typeof part === 'string') {
      if (key === 'idlist' || key === 'uids') return part;
      return /^https?:/.test(part) ? (key === 'link' || key === 'url' ? 'javascript:alert(1)' : part) : evil + part;
    }
    if (Array.isArray(part)) return part.map((item) => visit(item, key));
    if (typeof part === 'object' && part !== null)
      return Object.fromEntries(Object.entries(part).map(([name, item]) => [name, visit(item, name)]));
    return part;
  };
  if (typeof value === 'string') return value.replace('red kettles', evil) as never;
  return visit(value) as never;
}

describe('Stack Exchange', () => {
  it('gets no request during a `backoff`, on any of its sites', async () => {
    const answer = SOURCE_CASES.stackoverflow!.answers[0] as object;
    const service = await serve(() => ({ ...answer, backoff: 30 }));
    expect(await ask(sourceAt(service, 'stackoverflow'), 'stackoverflow')).toHaveLength(1);
    expect(await failureOf(ask(sourceAt(service, 'superuser'), 'superuser'))).toMatchObject({ reason: 'rate limit' });
    now += 31_000;
    expect(await ask(sourceAt(service, 'superuser'), 'superuser')).toHaveLength(1);
    expect(service.requests).toHaveLength(2);
  });

  it('rests when its quota is used up', async () => {
    const answer = SOURCE_CASES.stackoverflow!.answers[0] as object;
    const service = await serve(() => ({ ...answer, quota_remaining: 0 }));
    const source = sourceAt(service, 'stackoverflow');
    expect(await ask(source, 'stackoverflow')).toHaveLength(1);
    expect(await source.isResting()).toBe(true);
  });
});

it('GitHub says in its headers when its limit is reset', async () => {
  const reset = Math.ceil(Date.now() / 1_000) + 40;
  const headers = { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(reset) };
  const service = await serve((_, response) => void response.writeHead(403, headers).end('{}'));
  const failure = await failureOf(ask(sourceAt(service, 'github'), 'github'));
  expect(failure!.restMs).toBeGreaterThan(30_000);
  expect(failure!.restMs).toBeLessThanOrEqual(41_000);
});

it('a key raises the limit and is sent', async () => {
  const service = await serve(() => ({ items: [] }));
  const source = sourceAt(service, 'github', { key: 'token-of-the-operator' });
  for (let time = 0; time < 11; time++) await ask(source, 'github', `kettle ${time}`);
  expect(service.requests).toHaveLength(11);
  expect(service.requests[0]!.headers.authorization).toBe('Bearer token-of-the-operator');
});

it('an operator gets one connection at a time', async () => {
  let open = 0;
  let most = 0;
  const service = await startService(async () => {
    most = Math.max(most, ++open);
    await new Promise((resolve) => setTimeout(resolve, 40));
    open--;
    return { hits: [] };
  });
  services.push(service);
  const source = sourceAt(service, 'hackernews');
  await Promise.all(['one', 'two'].map((text) => ask(source, 'hackernews', text)));
  expect([most, service.requests.length]).toEqual([1, 2]);
});

it.each([
  ['arxiv', 'arXiv:2601.00042v2', { id_list: '2601.00042v2' }],
  ['pubmed', 'PMID: 31000001', { term: '31000001[uid]' }],
  ['openlibrary', 'isbn 978-0-00-000000-2', { q: 'isbn:9780000000002' }],
])('%s finds %s by its identifier', async (name, text, parameters) => {
  const service = await serve(answering(SOURCE_CASES[name]!.empty));
  await ask(sourceAt(service, name), name, text, 1);
  expect(Object.fromEntries(service.requests[0]!.url.searchParams)).toMatchObject(parameters);
});

it('Crossref finds a DOI by its path', async () => {
  const [answer] = SOURCE_CASES.crossref!.answers as [{ message: { items: object[] } }];
  const service = await serve(() => ({ status: 'ok', message: answer.message.items[0]! }));
  expect(await ask(sourceAt(service, 'crossref'), 'crossref', 'see 10.5555/kettle.1.', 1)).toMatchObject([
    { url: 'https://doi.org/10.5555/kettle.1' },
  ]);
  expect(service.requests[0]!.url.pathname).toBe('/works/10.5555%2Fkettle.1');
  expect(service.requests[0]!.url.searchParams.get('mailto')).toBe('ops@own.example');
});
