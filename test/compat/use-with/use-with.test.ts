/** Programs that use the compat API: published clients, and the requests of programs that cannot run here. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Service, searxngAnswer, startService } from '#search/service.suite.ts';
import { type Site, startSite } from '../../site/site.ts';
import { startServer, type TestServer } from '../../support/server.ts';
import { type Facts, PAGE_TEXT } from './row.ts';
import { CLIENT_ROWS, REQUEST_ROWS } from './rows.ts';
import { TESTED_ROWS } from './tested-rows.ts';

const run = promisify(execFile);
const LONG_MS = 240_000;
/** A program beside the packages of the clients, which are not dependencies of Lectern. */
const PROGRAM = path.resolve(import.meta.dirname, '../../clients/run-compat.mjs');
const areInstalled = existsSync(path.resolve(PROGRAM, '../node_modules/@tavily/core'));

let site: Site;
let service: Service;
let server: TestServer;
let facts: Facts;

beforeAll(async () => {
  site = await startSite({
    '/bees': `<title>Bees</title><main><h1>Bees</h1><p>${`${PAGE_TEXT} `.repeat(12)}</p></main>`,
  });
  const page = `${site.origin}/bees`;
  service = await startService((asked) => searxngAnswer([{ title: 'Bees', url: page, text: 'A snippet' }], asked));
  server = await startServer({
    allowNetworks: site.allow.join(','),
    searchProviders: [{ name: 'mine', kind: 'searxng', url: service.url }],
    compatKeyless: ['searxng', 'tika'],
    crawlDelayMs: 0,
  });
  facts = { key: server.app.firstKey!, page };
});
afterAll(async () => {
  await server.close();
  await service.close();
  await site.close();
});

describe.skipIf(!areInstalled)('published clients', () => {
  let answers: Record<string, Record<string, unknown>>;
  beforeAll(async () => {
    const { stdout } = await run(process.execPath, [PROGRAM, server.urls.compat!, facts.key, facts.page], {
      maxBuffer: 10_000_000,
    });
    answers = JSON.parse(stdout);
  }, LONG_MS);

  it.each(CLIENT_ROWS)('$program: $call', ({ client, call, check }) => {
    expect(answers[client], client).toHaveProperty([call]);
    check(answers[client]![call], facts);
  });

  it('has a row for each call', () => {
    const made = Object.entries(answers).flatMap(([client, calls]) =>
      Object.keys(calls).map((call) => `${client} ${call}`),
    );
    expect(CLIENT_ROWS.map(({ client, call }) => `${client} ${call}`).sort()).toEqual(made.sort());
  });
});

describe('requests of programs', () => {
  it.each(REQUEST_ROWS)('$program ($setting): $call', async ({ request, check }) => {
    const { path: target, isText = false, ...init } = request(facts);
    const answer = await fetch(server.urls.compat + target, init);
    const text = await answer.text();
    expect(answer.status, text).toBe(200);
    check(isText ? text : JSON.parse(text), facts);
  });
});

it.each(TESTED_ROWS)('$program has a test of its own', ({ test }) => {
  expect(existsSync(path.resolve(import.meta.dirname, '../../..', test))).toBe(true);
});
