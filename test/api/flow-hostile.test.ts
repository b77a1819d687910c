/** Hostile executors: only their own requests fail, the server keeps working, and the executor is restarted. */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { pidsWith, type ServerProcess, startProcess } from '../support/process.ts';
import { programFile } from '../support/program.ts';

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const POLL = { timeout: 60_000 };
/** Distinguishes these executors from those of other tests. */
const MARK = `h${randomBytes(4).toString('hex')}`;

const MODULE = (index: string) => `
import { spawn } from 'node:child_process';
import { existsSync, writeFileSync, writeSync } from 'node:fs';
import { Document, Executor } from ${JSON.stringify(index)};

/** Blocks the event loop until the file exists. */
function block(begun, until) {
  writeFileSync(begun, '');
  const end = Date.now() + 60_000;
  while (!existsSync(until) && Date.now() < end);
}

export class Good extends Executor {
  static requests = { '/good': 'good' };
  good({ docs }) { for (const doc of docs) doc.text += ' good'; }
}

export class Hostile extends Executor {
  static requests = {
    '/pid': 'pid', '/stray': 'stray', '/late': 'late', '/exit': 'exit', '/block': 'block', '/heap': 'heap', '/buffers': 'buffers',
    '/never': 'never', '/unsendable': 'unsendable', '/endless': 'endless', '/prototypes': 'prototypes', '/garbage': 'garbage', '/huge': 'huge',
    '/flood': 'flood', '/env': 'env', '/nest': 'nest', '/child': 'child',
  };
  pid() { return { pid: process.pid }; }
  stray() { Promise.reject(new Error('stray on purpose')); }
  late() { setTimeout(() => { throw new Error('late on purpose'); }, 1); }
  exit() { process.exit(0); }
  block({ parameters }) { block(parameters.begun, parameters.until); }
  heap() { const all = []; for (;;) all.push(new Array(1000).fill({ at: all.length })); }
  async buffers() { const all = []; for (;;) { all.push(Buffer.alloc(2 ** 24, 1)); await new Promise((resolve) => setTimeout(resolve, 1)); } }
  never({ parameters }) { writeFileSync(parameters.begun, ''); return new Promise(() => {}); }
  unsendable({ docs }) { docs[0].id = { not: 'a text' }; docs[0].tags = { get boom() { throw new RangeError('a getter'); } }; }
  endless({ docs }) { const loop = new Document({ text: 'x' }); loop.keepNested([loop], []); return [loop]; }
  prototypes() {
    Object.prototype.polluted = 'yes';
    Document.prototype.toString = () => { throw new Error('no text'); };
    Array.prototype.map = () => { throw new Error('no map'); };
    return JSON.parse('{"__proto__": {"polluted": "yes"}, "constructor": {"prototype": {"polluted": "yes"}}}');
  }
  garbage() { writeSync(3, 'this is no frame at all, but it is long enough to be read as one'); }
  huge() { const head = Buffer.alloc(9); head.writeUInt32LE(0xffffffff, 0); head.writeUInt8(13, 4); writeSync(3, head); return new Promise(() => {}); }
  flood() { const line = 'x'.repeat(99) + '\\n'; for (let at = 0; at < 20_000; at++) process.stdout.write(line); }
  env() { return { own: Object.keys(process.env).filter((name) => name.startsWith('LECTERN_')), path: !!process.env.PATH, given: process.env.GIVEN }; }
  nest({ docs }) { for (let at = 0; at < 5000; at++) docs[0] = new Document({ chunks: [docs[0]] }); return [docs[0]]; }
  child({ parameters }) { const made = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)', parameters.mark], { stdio: 'ignore' }); return { pid: made.pid }; }
}

export class Double extends Executor {
  static requests = { '/double': 'double' };
  double({ parameters }) { block(parameters.begun + this.context.replica, parameters.until); }
}

export class Starting extends Executor {
  static requests = { '/starting': 'answer', '/end': 'end' };
  constructor(setup) {
    super(setup);
    if (existsSync(this.options.broken)) throw new Error('broken on purpose');
  }
  answer() {}
  end() { process.exit(3); }
  close() { process.exit(4); }
}
`;

const FLOW = (folder: string) => `
jtype: Flow
executors:
  - {name: ${MARK}, uses: Hostile, modules: hostile.mjs, max_memory_bytes: 200000000, env: {GIVEN: given}}
  - {name: other, uses: Good, modules: hostile.mjs}
  - {name: double, uses: Double, modules: hostile.mjs, replicas: 2}
  - {name: starting, uses: Starting, modules: hostile.mjs, uses_with: {broken: ${path.join(folder, 'broken')}}}
`;

/** The minimum that a test of the server's shutdown needs. */
const SMALL_FLOW = (folder: string) => `
jtype: Flow
executors:
  - {name: ${MARK}, uses: Hostile, modules: hostile.mjs}
  - {name: starting, uses: Starting, modules: hostile.mjs, uses_with: {broken: ${path.join(folder, 'broken')}}}
`;

interface Answer {
  readonly header: { readonly status: { readonly code: number; readonly exception: { name: string } } | null };
  readonly parameters: { readonly __results__?: Record<string, Record<string, unknown>> };
  readonly data: readonly { readonly text: string }[];
}

let folder: string;
let server: ServerProcess;
let flow: string;
let site: http.Server;
let page: string;

const environment = (dataDir: string, flowFile = 'flow.yml') => ({
  LECTERN_DATA_DIR: path.join(folder, dataDir),
  LECTERN_BROWSER: 'none',
  LECTERN_FLOW: path.join(folder, flowFile),
  LECTERN_ALLOW_NETWORKS: '127.0.0.1',
  LECTERN_FLOW_TOKEN: 'a-secret-of-the-server',
  LECTERN_KEYLESS_RPM: 'none',
});

beforeAll(async () => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'lectern-hostile-'));
  const index = path.join(path.dirname(await programFile()), 'flow/index.js');
  writeFileSync(path.join(folder, 'hostile.mjs'), MODULE(index));
  writeFileSync(path.join(folder, 'flow.yml'), FLOW(folder));
  writeFileSync(path.join(folder, 'small.yml'), SMALL_FLOW(folder));
  site = http.createServer((_, response) =>
    response.setHeader('content-type', 'text/html').end('<title>Tea</title><p>The tea is hot.'),
  );
  site.listen(0, '127.0.0.1');
  await once(site, 'listening');
  page = `http://127.0.0.1:${(site.address() as { port: number }).port}/`;
  server = await startProcess(environment('data'));
  flow = server.urlOf('flow gateway');
});
afterAll(async () => {
  await server?.stop();
  site?.close();
  rmSync(folder, { recursive: true, force: true });
});

const send = (endpoint: string, parameters: object = {}, where = flow, signal?: AbortSignal): Promise<Response> =>
  fetch(`${where}/post`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: 'Bearer a-secret-of-the-server' },
    body: JSON.stringify({ execEndpoint: endpoint, parameters, data: [{ text: 'tea' }] }),
    ...(signal && { signal }),
  });

async function post(endpoint: string, parameters?: object, where?: string): Promise<Answer> {
  const answer = await send(endpoint, parameters, where);
  expect(answer.status).toBe(200);
  return (await answer.json()) as Answer;
}

const resultOf = (answer: Answer, name = `${MARK}/rep-0`) => answer.parameters.__results__?.[name] ?? {};
const place = (name: string) => path.join(folder, name);
const lines = (text: string) => server.lines.filter((line) => line.includes(text));

/** Returns the process id of the executor once it responds. While the executor restarts, calls wait or fail at once. */
async function pidOf(where?: string): Promise<number> {
  let pid: unknown;
  await expect
    .poll(async () => {
      const answer = await send('/pid', {}, where);
      if (answer.status !== 200) return answer.status;
      pid = resultOf((await answer.json()) as Answer).pid;
      return typeof pid;
    }, POLL)
    .toBe('number');
  return pid as number;
}

/** Expects that the gateway, another executor, the reader and the other APIs respond. */
async function expectOthersWell(): Promise<void> {
  expect(server.child.exitCode).toBeNull();
  expect((await fetch(flow)).status).toBe(200);
  expect((await post('/good')).data[0]!.text).toBe('tea good');
  expect(await (await fetch(`${server.urlOf('reader')}/${page}`)).text()).toContain('The tea is hot.');
  for (const face of ['search host', 'model host'])
    expect((await fetch(`${server.urlOf(face)}/live`)).status).toBe(200);
}

/**
 * Resolves once the executor is processing a request that it never completes. The request is returned in a list, so
 * that it is not awaited.
 */
async function inWork(name: string): Promise<readonly Promise<Answer>[]> {
  const begun = place(`in-work-${name}`);
  const asked = post('/never', { begun });
  await expect.poll(() => existsSync(begun), POLL).toBe(true);
  return [asked];
}

const DIED = { header: { status: { code: 1, exception: { name: 'ExecutorDied' } } } };

it('logs an unhandled rejection, which ends nothing', async () => {
  const before = await pidOf();
  expect((await post('/stray')).header.status).toBeNull();
  await expect.poll(() => lines('stray on purpose').length, POLL).toBeGreaterThan(0);
  expect(JSON.parse(lines('stray on purpose')[0]!)).toMatchObject({
    level: 'error',
    executor: `${MARK}/rep-0`,
    stack: expect.stringContaining('hostile.mjs'),
  });
  await expectOthersWell();
  expect(await pidOf()).toBe(before);
});

it('replaces a process that ends with an uncaught error', async () => {
  const before = await pidOf();
  // This request is running while the timer throws, so it fails with that error.
  const [asked] = await inWork('late');
  await post('/late');
  const never = await asked!;
  expect(never).toMatchObject(DIED);
  expect(JSON.stringify(never.header.status)).toContain('late on purpose');
  await expectOthersWell();
  expect(await pidOf()).not.toBe(before);
  expect(lines('the process of an executor ended').at(-1)).toContain('late on purpose');
});

it('replaces a process that exits', async () => {
  const before = await pidOf();
  const answer = await post('/exit');
  expect(answer).toMatchObject(DIED);
  expect(JSON.stringify(answer.header.status)).toContain('exit code 0');
  await expectOthersWell();
  expect(await pidOf()).not.toBe(before);
});

it('replaces a process that was killed; only its requests fail', async () => {
  const before = await pidOf();
  const asked = [...(await inWork('killed-1')), ...(await inWork('killed-2'))];
  await expectOthersWell();
  process.kill(before, 'SIGKILL');
  for (const answer of await Promise.all(asked)) expect(answer).toMatchObject(DIED);
  expect(await pidOf()).not.toBe(before);
  await expectOthersWell();
});

it('lets requests wait for a replacement that is starting', async () => {
  await post('/exit');
  const answers = await Promise.all(Array.from({ length: 5 }, () => post('/pid')));
  for (const answer of answers) expect(answer.header.status).toBeNull();
});

it('is not delayed by an executor that blocks its thread', async () => {
  const [begun, until] = [place('begun'), place('until')];
  let isOver = false;
  const asked = post('/block', { begun, until }).finally(() => {
    isOver = true;
  });
  await expect.poll(() => existsSync(begun), POLL).toBe(true);
  await expectOthersWell();
  expect(isOver).toBe(false);
  writeFileSync(until, '');
  expect((await asked).header.status).toBeNull();
});

it('runs other replicas while one blocks its thread', async () => {
  const [begun, until] = [place('double-'), place('double-until')];
  const asked = [post('/double', { begun, until }), post('/double', { begun, until })];
  // In a single thread, the second request could begin only after the first has ended.
  await expect.poll(() => existsSync(`${begun}0`) && existsSync(`${begun}1`), POLL).toBe(true);
  await expectOthersWell();
  writeFileSync(until, '');
  for (const answer of await Promise.all(asked)) expect(answer.header.status).toBeNull();
});

it.each(['/heap', '/buffers'])('ends a process that takes too much memory by %s', async (endpoint) => {
  const before = await pidOf();
  const answer = await post(endpoint);
  expect(answer).toMatchObject(DIED);
  expect(JSON.stringify(answer.header.status)).toContain('it used more than the 200000000 bytes of max_memory_bytes');
  await expectOthersWell();
  expect(await pidOf()).not.toBe(before);
  expect(lines('the process of an executor ended').at(-1)).toContain('max_memory_bytes');
});

it.each(['/unsendable', '/endless', '/nest'])(
  'fails only the request whose result cannot be sent: %s',
  async (endpoint) => {
    const before = await pidOf();
    const answer = await post(endpoint);
    expect(answer.header.status).toMatchObject({ code: 1, exception: { executor: 'Hostile' } });
    expect(answer.data[0]!.text).toBe('tea');
    await expectOthersWell();
    expect(await pidOf()).toBe(before);
  },
);

it('is not affected by an executor that changes built-in prototypes', async () => {
  await send('/prototypes');
  await expectOthersWell();
  const answer = await post('/good');
  expect(JSON.stringify(answer)).not.toContain('polluted');
  process.kill((await pidsWith(`executor ${MARK}/rep-0`))[0]!, 'SIGKILL');
  await pidOf();
});

it.each(['/garbage', '/huge'])('ends a process that writes into its own channel: %s', async (endpoint) => {
  const before = await pidOf();
  expect(await post(endpoint)).toMatchObject(DIED);
  expect(lines('it sent an invalid frame').length).toBeGreaterThan(0);
  await expectOthersWell();
  expect(await pidOf()).not.toBe(before);
});

it('logs the output of an executor, and drops a flood of it', async () => {
  const asked = post('/flood');
  await expectOthersWell();
  await asked;
  const written = lines('"stream":"stdout"');
  expect(written.length).toBeGreaterThan(100);
  expect(JSON.parse(written[0]!)).toMatchObject({ level: 'info', executor: `${MARK}/rep-0`, msg: 'x'.repeat(99) });
  await expect.poll(() => lines('dropped the others').length, POLL).toBeGreaterThan(0);
  expect(lines('"stream":"stdout"').length).toBeLessThan(20_000);
});

it('gives executors the environment without the settings of the server', async () => {
  expect(resultOf(await post('/env'))).toEqual({ own: [], path: true, given: 'given' });
});

it('keeps executors running on SIGINT and SIGTERM to them', async () => {
  const before = await pidOf();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.kill(before, signal);
  await expectOthersWell();
  expect(await pidOf()).toBe(before);
});

async function blockWithoutClient(): Promise<void> {
  const before = await pidOf();
  const [begun, until] = [place('stuck'), place('stuck-until')];
  const client = new AbortController();
  const asked = send('/block', { begun, until }, flow, client.signal).catch(() => undefined);
  await expect.poll(() => existsSync(begun), POLL).toBe(true);
  client.abort();
  await asked;
  await expectOthersWell();
  expect(await pidOf()).not.toBe(before);
  expect(lines('sent nothing for').length).toBeGreaterThan(0);
}

async function failToStart(): Promise<void> {
  expect((await post('/starting')).header.status).toBeNull();
  writeFileSync(place('broken'), '');
  expect(await post('/end')).toMatchObject(DIED);
  await expect.poll(() => lines('could not be restarted').length, POLL).toBeGreaterThan(2);
  const away = await send('/starting');
  expect(away.status).toBe(503);
  expect(JSON.stringify(await away.json())).toContain('deployment starting');
  await expectOthersWell();
  rmSync(place('broken'));
  await expect.poll(async () => (await send('/starting')).status, POLL).toBe(200);
}

// Run concurrently, because both mostly wait and they use different executors.
it('ends a blocked process without a client, and retries an executor that cannot start', async () => {
  await Promise.all([blockWithoutClient(), failToStart()]);
});

describe('the end of the server', () => {
  it('ends executors and their children, also when it is killed', async () => {
    const killed = await startProcess(environment('killed', 'small.yml'));
    const where = killed.urlOf('flow gateway');
    const first = await pidOf(where);
    await post('/child', { mark: `${MARK}-grandchild` }, where);
    const [begun, until] = [place('orphan'), place('orphan-until')];
    const asked = send('/block', { begun, until }, where).catch(() => undefined);
    await expect.poll(() => existsSync(begun), POLL).toBe(true);
    const mine = () => pidsWith(`executor ${MARK}/rep-0`).filter((pid) => pid === first);
    expect(mine()).toEqual([first]);
    expect(pidsWith(`${MARK}-grandchild`)).toHaveLength(1);
    killed.child.kill('SIGKILL');
    await asked;
    await expect.poll(() => [...mine(), ...pidsWith(`${MARK}-grandchild`)], POLL).toEqual([]);
  });

  it('is clean when an executor exits while it closes', async () => {
    const ended = await startProcess(environment('ended', 'small.yml'));
    const pid = await pidOf(ended.urlOf('flow gateway'));
    expect(await ended.stop()).toBe(0);
    const failure = ended.lines.find((line) => line.includes('An executor could not be closed'));
    expect(failure).toContain('the process of starting/rep-0 ended before it closed: exit code 4');
    expect(pidsWith(`executor ${MARK}/rep-0`)).not.toContain(pid);
  });
});

describe('in the process of the server', () => {
  const INSIDE = `
jtype: Flow
executors:
  - {name: inside, uses: Hostile, modules: hostile.mjs, own_process: false}
`;
  it('a stray rejection is logged and survived; an uncaught error is logged and ends the process', async () => {
    writeFileSync(path.join(folder, 'inside.yml'), INSIDE);
    const inside = await startProcess(environment('inside', 'inside.yml'));
    const where = inside.urlOf('flow gateway');
    expect((await post('/stray', {}, where)).header.status).toBeNull();
    const logged = (text: string) => inside.lines.find((line) => line.includes(text));
    await expect.poll(() => logged('unhandled promise rejection'), POLL).toBeDefined();
    expect(JSON.parse(logged('unhandled promise rejection')!)).toMatchObject({
      level: 'error',
      err: { message: 'stray on purpose', stack: expect.stringContaining('hostile.mjs') },
    });
    expect((await fetch(where)).status).toBe(200);
    const exited = once(inside.child, 'exit');
    await send('/late', {}, where).catch(() => undefined);
    expect(await exited).toEqual([1, null]);
    await expect.poll(() => logged('uncaught exception, the process exits'), POLL).toBeDefined();
    expect(logged('uncaught exception')).toContain('late on purpose');
  });
});
