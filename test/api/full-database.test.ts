/** Two servers whose PostgreSQL database has no disk space left: a real PostgreSQL on a small file system. */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type AccountsModule, openAccounts } from '#accounts/index.ts';
import { type ServerProcess, startProcess } from '../support/process.ts';
import { type SmallPostgres, startSmallPostgres } from '../support/services.ts';

const LONG_MS = 240_000;
/** Other tests may keep the machine busy. */
const SOON = { timeout: 90_000, interval: 100 };
const LINES = 600;
const FULL = "The server's disk is full";
const PLANS = JSON.stringify({
  paid: { concurrency: 'none', reader: { requestsPerMinute: 'none' }, embeddings: { requestsPerMinute: 'none' } },
});

const folders: string[] = [];
function makeFolder(): string {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'lectern-full-database-'));
  folders.push(folder);
  return folder;
}

/** Embeds a text as an angle: the number that ends it. Waits while `gate` is closed. */
const vectorOf = (line: number) => [Math.cos(line / LINES), Math.sin(line / LINES)];
const lineOf = ([x, y]: [number, number]) => Math.round(Math.atan2(y, x) * LINES);
let gate: Promise<void> = Promise.resolve();
let embedded = 0;
async function embedTexts(request: http.IncomingMessage, response: http.ServerResponse): Promise<void> {
  let body = '';
  for await (const chunk of request) body += chunk;
  const { input } = JSON.parse(body) as { input: string[] };
  if (embedded > LINES / 4) await gate;
  embedded += input.length;
  const data = input.map((text, index) => ({ index, embedding: vectorOf(Number(text.split(' ').at(-1))) }));
  response.setHeader('content-type', 'application/json').end(JSON.stringify({ data, usage: { total_tokens: 1 } }));
}

/** Too much for the free space in the pages of a table, even compressed. */
const randomWords = () => randomBytes(30_000).toString('hex').match(/.{12}/g)!.join(' ');

const site = http.createServer((request, response) => {
  if (request.method === 'POST') return void embedTexts(request, response);
  response
    .setHeader('content-type', 'text/html')
    .end(`<title>Page</title><p>The words of ${request.url}.</p><p>${randomWords()}</p>`);
});

let postgres: SmallPostgres | undefined;
let accounts: AccountsModule;
let origin: string;
const servers: ServerProcess[] = [];

beforeAll(async () => {
  postgres = await startSmallPostgres();
  if (!postgres) return;
  site.listen(0, '127.0.0.1');
  await once(site, 'listening');
  origin = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
  accounts = await openAccounts({ dataDir: makeFolder(), databaseUrl: postgres.url });
}, LONG_MS);
afterAll(async () => {
  await accounts?.close();
  await Promise.all(servers.map((server) => server.stop()));
  await postgres?.close();
  site.closeAllConnections();
  site.close();
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
}, LONG_MS);

async function serve(environment: Record<string, string>): Promise<ServerProcess> {
  const server = await startProcess({
    LECTERN_DATABASE_URL: postgres!.url,
    LECTERN_ALLOW_NETWORKS: '127.0.0.0/8',
    LECTERN_BROWSER: 'none',
    LECTERN_LIMIT_STORE: 'memory',
    LECTERN_PLANS: PLANS,
    LECTERN_LOG_LEVEL: 'info',
    LECTERN_MODEL_DEADLINE_MS: '600000',
    ...environment,
  });
  servers.push(server);
  return server;
}

async function createKey(balance: number | null) {
  const { id } = await accounts.accounts.createAccount({ name: 'caller', plan: 'paid', balance });
  const { key } = await accounts.accounts.mintKey({ accountId: id, name: 'caller' });
  return { id, headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' } };
}
type Key = Awaited<ReturnType<typeof createKey>>;

interface Answer {
  readonly status: number;
  readonly retryAfter: number;
  // biome-ignore lint/suspicious/noExplicitAny: tests read any field of a response
  readonly json: any;
}

async function ask(url: string, { headers }: Key, init: RequestInit = {}): Promise<Answer> {
  const answer = await fetch(url, { ...init, headers: { ...headers, accept: 'application/json' } });
  const retryAfter = Number(answer.headers.get('retry-after'));
  return { status: answer.status, retryAfter, json: await answer.json() };
}

it('answers what needs no writing, loses no charge and no line of a job, and recovers', { timeout: LONG_MS }, async ({
  skip,
}) => {
  if (!postgres) return skip('PostgreSQL is missing, or private file systems are not permitted here (unshare -rm)');
  const database = postgres;
  const models = [
    {
      ...{ id: 'numbers', does: 'embed', dimensions: 2, contextTokens: 512 },
      runs: { on: 'remote', protocol: 'openai', url: `${origin}/v1`, model: 'numbers' },
    },
  ];
  const killed = { LECTERN_DATA_DIR: makeFolder(), LECTERN_BATCH_JOBS: '0', LECTERN_CRAWL_JOBS: '0' };
  const [server, first] = await Promise.all([
    serve({ LECTERN_DATA_DIR: makeFolder(), LECTERN_MODELS: JSON.stringify(models) }),
    serve(killed),
  ]);
  const caller = await createKey(null);
  const paying = await createKey(10 ** 12);
  let answered = 0;
  let tokens = 0;
  const count = ({ status, json }: Answer) => {
    expect(status).toBe(200);
    answered += 1;
    tokens += json.data.usage.tokens;
  };
  const readText = (of: ServerProcess, key: Key) =>
    ask(of.urlOf('reader'), key, { method: 'POST', body: JSON.stringify({ html: '<p>Green tea is drunk hot.' }) });
  const read = async (of: ServerProcess, page: string, key = caller) => {
    const answer = await ask(`${of.urlOf('reader')}/${origin}/${page}`, key);
    expect([answer.status, answer.json]).toMatchObject([200, { data: { content: expect.stringContaining(page) } }]);
    if (key === caller) count(answer);
  };
  const submit = (input: unknown[]) =>
    ask(`${server.urlOf('model host')}/v1/batch/embeddings`, caller, {
      method: 'POST',
      body: JSON.stringify({ model: 'numbers', input }),
    });
  const logged = (of: ServerProcess, message: string) => of.lines.filter((line) => line.includes(message)).length;

  for (const of of [server, first]) for (let at = 0; at < 5; at++) await read(of, `before-${at}`);
  await read(server, 'before', paying);
  let open = () => {};
  gate = new Promise((resolve) => {
    open = resolve;
  });
  const lines = Array.from({ length: LINES }, (_, at) => ({ custom_id: `line ${at}`, body: { input: `Line ${at}` } }));
  const { json: job } = await submit(lines);
  const stateOf = async () => (await ask(`${server.urlOf('model host')}/v1/batch/${job.batch_id}`, caller)).json;
  await expect.poll(async () => (await stateOf()).stats.completed, SOON).toBeGreaterThan(0);

  await database.fill();
  // The pages that the tables have already take some more rows.
  const NOT_WRITTEN = 'usage could not be written to the database';
  let page = 0;
  for (const of of [server, first])
    while (!logged(of, NOT_WRITTEN)) {
      await read(of, `full-${page++}`);
      for (const answer of await Promise.all(Array.from({ length: 20 }, () => readText(of, caller)))) count(answer);
    }
  for (let at = 0; at < 5; at++) await read(server, `before-${at}`);

  // Nothing can be reserved from a balance.
  const refusedReads: Answer[] = [];
  while (!refusedReads.length) {
    const answers = await Promise.all(Array.from({ length: 50 }, () => readText(server, paying)));
    refusedReads.push(...answers.filter(({ status }) => status !== 200));
  }
  expect(refusedReads[0]).toMatchObject({ status: 503, retryAfter: 60, json: { message: FULL } });
  const big = Array.from({ length: 300 }, (_, at) => ({
    custom_id: `line ${at}`,
    body: { input: randomBytes(1_000).toString('base64') },
  }));
  const refused = await submit(big);
  expect(refused).toMatchObject({ status: 503, retryAfter: 60 });
  expect(JSON.stringify(refused.json)).toContain(FULL);
  const during = await stateOf();
  expect(during.stats.completed).toBeLessThan(LINES);
  expect(['pending', 'processing', 'in_progress']).toContain(during.status);

  // A killed server left its charges in its journal. Its successor starts although the database is full.
  first.child.kill('SIGKILL');
  await first.stop();
  const second = await serve(killed);
  await read(second, 'after-the-kill');

  open();
  await expect.poll(() => logged(server, 'batch jobs: a run failed and will be retried'), SOON).toBeGreaterThan(0);
  expect((await stateOf()).stats.completed).toBeLessThan(LINES);

  await database.free();
  await expect.poll(async () => (await stateOf()).status, SOON).toBe('completed');
  expect((await stateOf()).stats).toMatchObject({ total: LINES, completed: LINES, failed: 0 });
  const output = await (await fetch((await stateOf()).output_url)).text();
  const numbers = output
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
    .map(({ custom_id, response }) => [custom_id, lineOf(response.body.data[0].embedding)]);
  expect(numbers).toEqual(lines.map(({ custom_id }, at) => [custom_id, at]));
  expect((await submit(big.slice(0, 3))).status).toBe(200);
  const sumOf = async (accountId: string) => {
    const sums = await accounts.usage.sums({ by: ['endpoint'], accountId });
    return sums.find(({ endpoint }) => endpoint === 'reader');
  };
  await expect.poll(() => sumOf(caller.id), SOON).toMatchObject({ requests: answered, tokens, failed: 0 });
  // One line each, however many requests could not be stored.
  for (const of of [server, second]) {
    const warnings = of.lines
      .filter((line) => line.includes('"level":"warn"'))
      .map((line) => (JSON.parse(line) as { msg: string }).msg)
      .filter((message) => !message.includes('a run failed and will be retried'));
    expect(warnings).toEqual([...new Set(warnings)]);
    expect(warnings.join()).toContain(NOT_WRITTEN);
    await expect.poll(() => logged(of, 'usage is written to the database again'), SOON).toBe(1);
  }
  expect(logged(server, 'the disk of the database is full: pages are not cached')).toBe(1);
});
