// Own process: it examines the environment and the connections of its process.
/** The doctor on this machine with its current state, and with wrong settings. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { doctor, type Finding, linesOf, reportOf, summaryOf } from '#app/doctor/doctor.ts';
import { networkGuardChecks } from '#app/doctor/network-guard.ts';
import { privacyChecks, watchConnections } from '#app/doctor/privacy.ts';
import { storeChecks } from '#app/doctor/stores.ts';
import { childEnvironment } from '#concurrency/environment.ts';
import { readConfig } from '#config.ts';
import { openDatabase } from '#storage/database/sqlite.ts';
import { shareBrowser } from '../support/share-browser.ts';

const LONG_MS = 240_000;

const dataDir = mkdtempSync(path.join(os.tmpdir(), 'lectern-doctor-test-'));
shareBrowser(dataDir);
afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

async function examined(flags: Record<string, unknown>): Promise<Finding[]> {
  const config = readConfig({
    environment: { LECTERN_BROWSER: process.env.LECTERN_BROWSER },
    flags: { dataDir, ...flags },
  });
  const findings: Finding[] = [];
  for await (const finding of doctor(config, '0.0.0-test', new AbortController().signal)) findings.push(finding);
  return findings;
}
const named = (findings: readonly Finding[], name: string) => findings.find((finding) => finding.name === name);

// Run concurrently, because most checks wait for timeouts.
describe.concurrent('all checks', () => {
  it(
    'finds nothing broken on this machine, with both engines',
    async () => {
      const findings = await examined({});
      expect(findings.filter(({ state }) => state === 'broken')).toEqual([]);
      for (const name of ['This machine', 'IPv6 forms', 'Names resolving here', 'Redirects', 'DNS rebinding']) {
        expect(named(findings, name)).toMatchObject({
          state: 'ok',
          found: expect.stringMatching(/refused by direct and browser/),
        });
      }
      expect(named(findings, 'Requests by a page')?.found).toMatch(/^fetch, image, script, frame, socket, beacon/);
      for (const name of [
        'Reading a page',
        'Rendering a page',
        'Embedding',
        'Flow',
        'Keyless limit',
        'Limits',
        'Telemetry',
      ]) {
        expect(named(findings, name)?.state, name).toBe('ok');
      }
      const report = reportOf('0.0.0-test', findings);
      expect(report.ok).toBe(true);
      expect(summaryOf(report)).toMatch(/^Everything works/);
    },
    LONG_MS,
  );

  it(
    'reports what is broken, with advice',
    async () => {
      const file = path.join(dataDir, 'a-file');
      writeFileSync(file, '');
      const findings = await examined({
        dataDir: file,
        browser: '/nowhere/chromium',
        tesseract: '/nowhere/tesseract',
        redisUrl: 'redis://127.0.0.1:1',
        allowNetworks: '10.0.0.0/8',
      });
      for (const name of ['Data folder', 'Browser', 'Text recognition', 'SQLite', 'Limits']) {
        expect(named(findings, name), name).toMatchObject({ state: 'broken', advice: expect.stringMatching(/\w/) });
      }
      expect(named(findings, 'Allowed networks')).toMatchObject({ state: 'warning', found: '10.0.0.0/8' });
      // The network guard is checked even without a data folder and a browser.
      expect(named(findings, 'This machine')).toMatchObject({
        state: 'ok',
        found: expect.stringMatching(/refused by direct, no connection/),
      });
      const report = reportOf('0.0.0-test', findings);
      expect(report.ok).toBe(false);
      expect(summaryOf(report)).toMatch(/^\d+ of \d+ checks failed/);
    },
    LONG_MS,
  );

  it('finds a database that another program has locked', async () => {
    const folder = mkdtempSync(path.join(os.tmpdir(), 'lectern-doctor-locks-'));
    mkdirSync(path.join(folder, 'accounts'));
    const holder = await openDatabase(path.join(folder, 'accounts/accounts.db'), []);
    const config = readConfig({ flags: { dataDir: folder } });
    const locks = storeChecks(config).find(({ name }) => name === 'Locks')!;
    try {
      expect(await locks.run()).toMatchObject({ state: 'ok' });
      holder.run('BEGIN EXCLUSIVE');
      expect(await locks.run()).toMatchObject({ state: 'broken', found: expect.stringMatching(/^accounts: .*locked/) });
    } finally {
      holder.close();
      rmSync(folder, { recursive: true, force: true });
    }
  });
});

/** A server whose network guard allows everything. */
function leaky(port: number, hear: () => void) {
  return {
    pages: { origin: 'http://127.0.0.1:1', port: 1, close: async () => {} },
    listeners: [{ port, connections: () => heard, countsConnections: async () => true, close: async () => {} }],
    listenerPort: port,
    canRebind: false,
    key: '',
    urls: { reader: 'http://r', search: 'http://s', models: 'http://m', flow: 'http://f' },
    names: { private: 'private.doctor.test', mixed: 'mixed.doctor.test', changing: 'changing.doctor.test' },
    browser: () => ({ available: false }),
    fetch: async () => {
      hear();
      return new Response(JSON.stringify({ code: 200, data: { content: 'SECRET' } }));
    },
    close: async () => {},
  } as unknown as Parameters<typeof networkGuardChecks>[0];
}
let heard = 0;

it('detects a broken guard by the answer and by connections that arrive', async () => {
  const run = async (server: Parameters<typeof networkGuardChecks>[0]) =>
    networkGuardChecks(server, [], ['direct'])
      .find(({ name }) => name === 'This machine')!
      .run();
  expect(await run(leaky(1, () => {}))).toMatchObject({
    state: 'broken',
    found: expect.stringMatching(/^not refused: /),
  });
  expect(await run(leaky(1, () => heard++))).toMatchObject({
    state: 'broken',
    found: expect.stringMatching(/connections arrived/),
  });
});

it('prints findings in groups, with advice below', () => {
  const finding = {
    group: 'Machine',
    name: 'Browser',
    state: 'broken',
    found: 'there is none',
    advice: 'Get one',
  } as const;
  expect([...linesOf(finding, undefined)]).toEqual([
    'Machine',
    '  broken   Browser                    there is none',
    '           -> Get one',
  ]);
  expect([...linesOf({ ...finding, advice: undefined }, 'Machine')]).toHaveLength(1);
});

it('warns if the browser does not start, because nothing could be checked', async () => {
  const answer = () => Response.json({ code: 503, name: 'ServiceNodeResourceDrainError' }, { status: 503 });
  const server = { ...leaky(1, () => {}), fetch: async () => answer() };
  const checks = networkGuardChecks(server, [], ['browser']).find(({ name }) => name === 'This machine')!;
  expect(await checks.run()).toMatchObject({
    state: 'warning',
    found: expect.stringMatching(/^18 could not be tried/),
  });
});

/** The findings of the privacy checks while a child process runs. */
async function examinedBeside(env: NodeJS.ProcessEnv) {
  const watch = watchConnections();
  try {
    return await withChild(env, () => Promise.all(privacyChecks(watch).map(({ run }) => run())));
  } finally {
    watch.close();
  }
}

/** Calls `run` while a child process runs. */
async function withChild<T>(env: NodeJS.ProcessEnv, run: () => Promise<T>): Promise<T> {
  const child = spawn(process.execPath, ['-e', "process.stdout.write('up'); setInterval(() => {}, 1000)"], {
    env,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const gone = once(child, 'exit');
  try {
    await once(child.stdout, 'data');
    return await run();
  } finally {
    child.kill('SIGKILL');
    await gone;
  }
}

it.runIf(process.platform === 'linux')('finds processes that may report to their makers', async () => {
  const [telemetry, connections] = await examinedBeside(childEnvironment());
  expect(telemetry).toMatchObject({ state: 'ok', found: expect.stringMatching(/^ORT_DISABLE_TELEMETRY/) });
  expect(connections).toMatchObject({
    state: 'ok',
    found: expect.stringMatching(/^none to other machines in \d+ samples/),
  });
  const { ORT_DISABLE_TELEMETRY: _, ...without } = childEnvironment();
  const [found] = await examinedBeside(without);
  expect(found).toMatchObject({ state: 'broken', found: expect.stringMatching(/^node: started without the switches/) });
});
