/** A rolling restart of three servers behind a load balancer that follows `/ready`: no request fails. */
import { mkdtempSync, rmSync } from 'node:fs';
import { Agent, get, type IncomingMessage, request } from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { startSite } from '../site/site.ts';
import { type ServerProcess, startProcess } from '../support/process.ts';

const REQUESTS = 2_000;
const AT_ONCE = 8;
const CHECK_MS = 100;
const PAGE = JSON.stringify({ html: '<article><h1>Tea</h1><p>Some words about tea, enough to be read.</p></article>' });

/** Sends a request on a connection that is kept open; there are no retries. Resolves with the status and the text. */
function send(url: string, agent: Agent, body?: string) {
  return new Promise<{ status: number; text: string }>((resolve, reject) => {
    const answer = (response: IncomingMessage) => {
      let text = '';
      response.on('data', (chunk) => {
        text += chunk;
      });
      response.on('end', () => resolve({ status: response.statusCode!, text }));
      response.on('error', reject);
    };
    const headers = { 'content-type': 'application/json' };
    const sent =
      body === undefined ? get(url, { agent }, answer) : request(url, { method: 'POST', headers, agent }, answer);
    sent.on('error', reject).end(body);
  });
}

/** Round robin over the servers whose last check succeeded. */
function createBalancer(urls: readonly string[]) {
  const agent = new Agent({ keepAlive: true });
  const checks = new Agent({ keepAlive: false });
  const ready = new Set(urls);
  let at = 0;
  const check = async (url: string) => {
    const isReady = await send(`${url}/ready`, checks).then(
      ({ status }) => status === 200,
      () => false,
    );
    if (isReady) ready.add(url);
    else ready.delete(url);
  };
  const timer = setInterval(() => {
    for (const url of urls) void check(url);
  }, CHECK_MS);
  return {
    isReady: (url: string) => ready.has(url),
    send(place: string, body?: string) {
      const usable = urls.filter((url) => ready.has(url));
      return send(usable[at++ % usable.length]! + place, agent, body);
    },
    close() {
      clearInterval(timer);
      agent.destroy();
    },
  };
}

it(`fails none of ${REQUESTS} requests while three servers are restarted one after another`, {
  timeout: 300_000,
}, async () => {
  const site = await startSite({
    '/slow': async ({ response }) => {
      await sleep(700);
      response.setHeader('content-type', 'text/html').end('<title>Slow</title><p>This page took its time to come.');
    },
  });
  onTestFinished(() => site.close());
  const start = async (port: string): Promise<ServerProcess> => {
    const dataDir = mkdtempSync(path.join(os.tmpdir(), 'lectern-rolling-'));
    const server = await startProcess({
      LECTERN_DATA_DIR: dataDir,
      LECTERN_BROWSER: 'none',
      LECTERN_AUTH: 'off',
      LECTERN_KEYLESS_RPM: 'none',
      LECTERN_ALLOW_NETWORKS: site.allow.join(','),
      LECTERN_READER_PORT: port,
      LECTERN_DRAIN_DELAY_MS: '1500',
    });
    onTestFinished(async () => {
      await server.stop();
      rmSync(dataDir, { recursive: true, force: true });
    });
    return server;
  };
  const servers = await Promise.all(['0', '0', '0'].map(start));
  const urls = servers.map((server) => server.urlOf('reader'));
  const balancer = createBalancer(urls);
  onTestFinished(() => balancer.close());

  let sent = 0;
  let restarted = false;
  const failures: string[] = [];
  // Continues until all servers were restarted, even if that takes longer than the requests.
  const clients = Array.from({ length: AT_ONCE }, async () => {
    while (sent < REQUESTS || !restarted) {
      const number = sent++;
      const isSlow = number % 50 === 0;
      const answer = isSlow ? balancer.send(`/${site.origin}/slow`) : balancer.send('/', PAGE);
      await answer.then(
        ({ status, text }) => {
          const isRight = status === 200 && text.includes(isSlow ? 'took its time' : 'about tea');
          if (!isRight) failures.push(`${number}: ${status} ${text.slice(0, 200)}`);
        },
        (error: Error) => failures.push(`${number}: ${error.message}`),
      );
    }
  });
  const restart = async () => {
    for (const [at, url] of urls.entries()) {
      expect(await servers[at]!.stop()).toBe(0);
      servers[at] = await start(new URL(url).port);
      await expect.poll(() => balancer.isReady(url), { timeout: 60_000 }).toBe(true);
    }
  };
  await restart().finally(() => {
    restarted = true;
  });
  await Promise.all(clients);
  expect(failures).toEqual([]);
  expect(sent).toBeGreaterThanOrEqual(REQUESTS);
});
