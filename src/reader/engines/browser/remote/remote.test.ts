import { once } from 'node:events';
import { request } from 'node:http';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';
import { afterEach, expect, it, vi } from 'vitest';
import { foundBrowser, words } from '../browser.suite.ts';
import { confinementFlags } from '../flags.ts';
import { startChromium, startRemoteBench } from './remote-browser.suite.ts';

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function use<T extends { close(): Promise<unknown> }>(opening: Promise<T>): Promise<T> {
  const opened = await opening;
  closers.push(() => opened.close());
  return opened;
}

/** Log entries, as one line each. */
function createLines() {
  const lines: string[] = [];
  return {
    lines,
    log: (message: string, facts: Record<string, unknown>) =>
      void lines.push(`${message}: ${facts.browser} ${facts.reason ?? ''}`),
  };
}

const article = async (bench: Awaited<ReturnType<typeof startRemoteBench>>) =>
  words((await bench.last('/rendered')).text);

it('spreads pages over several browsers, leaves a dead one out, and uses it again when it is back', async () => {
  const [one, two] = await Promise.all([use(startChromium()), use(startChromium())]);
  const { lines, log } = createLines();
  const bench = await use(startRemoteBench([one.url, two.url], { pool: { log, maxPages: 2 } }));
  expect(await bench.pool.warm()).toMatchObject({ healthy: true, remote: { configured: 2, connected: 2 } });
  const { signal } = new AbortController();
  const leases = await Promise.all([1, 2, 3, 4].map(() => bench.pool.lease(signal)));
  const used = [...new Set(leases.map(({ browser }) => browser))];
  expect(used.map((browser) => leases.filter((lease) => lease.browser === browser).length)).toEqual([2, 2]);
  // Each browser has two pages, so the fifth read waits.
  await expect(bench.pool.lease(signal, 50)).rejects.toMatchObject({ name: 'ServiceNodeResourceDrainError' });
  for (const lease of leases) lease.release();

  await one.close();
  await vi.waitFor(() => expect(bench.pool.status().remote).toMatchObject({ connected: 1 }), 10_000);
  const reads = await Promise.all([article(bench), article(bench), article(bench)]);
  for (const text of reads) expect(text).toContain('first word');
  expect(lines.filter((line) => line.startsWith('a browser is not used'))[0]).toContain(`127.0.0.1:${one.port}`);

  await use(startChromium({ port: one.port }));
  await vi.waitFor(() => expect(bench.pool.status().remote).toMatchObject({ connected: 2 }), 60_000);
  expect(await article(bench)).toContain('first word');
});

it('refuses reads at once while no browser can be connected', async () => {
  const { lines, log } = createLines();
  const bench = await use(startRemoteBench(['http://127.0.0.1:1'], { pool: { log } }));
  await bench.pool.warm();
  await expect(bench.last('/rendered')).rejects.toMatchObject({ name: 'ServiceNodeResourceDrainError', code: 503 });
  expect(lines).toEqual(['a browser is not used: 127.0.0.1:1 it cannot be reached (ECONNREFUSED)']);
});

it('does not use a browser that does not reach the egress proxy', async () => {
  const browser = await use(startChromium());
  const { lines, log } = createLines();
  const remote = { host: '127.0.0.1', port: 0, url: 'http://127.0.0.1:1' };
  const bench = await use(startRemoteBench([browser.url], { remote, pool: { log } }));
  await bench.pool.warm();
  await expect(bench.last('/rendered')).rejects.toMatchObject({ code: 503 });
  expect(lines[0]).toMatch(/cannot reach the egress proxy of this server at http:\/\/127\.0\.0\.1:1/);
});

it('does not use a browser whose WebRTC bypasses the egress proxy', async () => {
  const flags = confinementFlags(['127.0.0.1']).filter((flag) => !flag.includes('webrtc'));
  const browser = await use(startChromium({ flags }));
  const { lines, log } = createLines();
  const bench = await use(startRemoteBench([browser.url], { pool: { log } }));
  await bench.pool.warm();
  await expect(bench.last('/rendered')).rejects.toMatchObject({ code: 503 });
  expect(lines[0]).toContain('its WebRTC sends UDP past the egress proxy: start it with --webrtc-ip-handling-policy');
  expect(bench.site.hits('/rendered')).toBe(0);
});

it('gives each read credentials of its own, which end with the read', async () => {
  const browser = await use(startChromium());
  const bench = await use(startRemoteBench([browser.url]));
  const { egress, requests } = bench;
  await bench.last('/rendered');
  await bench.last('/rendered');
  const names = new Set(requests.map(({ username }) => username));
  expect([...names]).toEqual([expect.stringMatching(/^visit-/), expect.stringMatching(/^visit-/)]);

  const statusFor = async (credentials: string) => {
    const headers = { 'proxy-authorization': `Basic ${Buffer.from(credentials).toString('base64')}` };
    const sent = request({ host: '127.0.0.1', port: egress.remote!.port, path: bench.site.origin, headers });
    const [{ statusCode }] = await once(sent.end(), 'response');
    return statusCode;
  };
  const grant = egress.remote!.grant('visit-test');
  expect(await statusFor(`visit-test:${grant.password}`)).toBe(200);
  expect(await statusFor(`visit-other:${grant.password}`)).toBe(407);
  // The password of the local browser is valid on loopback only.
  expect(await statusFor(`visit-test:${egress.password}`)).toBe(407);
  grant.revoke();
  expect(await statusFor(`visit-test:${grant.password}`)).toBe(407);
});

it('reads a page whose messages are too large for the connection', async () => {
  const browser = await use(startChromium());
  const { lines, log } = createLines();
  const pages = {
    '/loud': `<title>Loud</title><p id="state">Before.</p><script>
console.log('x'.repeat(10_000_000));
fetch('/upload', { method: 'POST', body: 'y'.repeat(9_000_000) }).catch(() => {
  document.getElementById('state').textContent = 'After both messages.';
});
</script>`,
  };
  const bench = await use(startRemoteBench([browser.url], { pages, pool: { log } }));
  expect(words((await bench.last('/loud')).text)).toContain('After both messages.');
  expect(lines.some((line) => line.startsWith('dropped a browser message'))).toBe(true);
  expect(bench.pool.status()).toMatchObject({ crashes: 0, remote: { connected: 1 } });
});

it('reads through a Playwright server of the same version', async () => {
  const { path: executablePath, env } = foundBrowser();
  const server = await use(
    chromium.launchServer({
      executablePath,
      chromiumSandbox: false,
      env: { ...process.env, ...env } as Record<string, string>,
      args: confinementFlags(['127.0.0.1']),
    }),
  );
  const bench = await use(startRemoteBench([server.wsEndpoint()]));
  expect(await bench.pool.warm()).toMatchObject({ healthy: true });
  expect(await article(bench)).toContain('first word');
});

it('names both versions of a Playwright server that does not match', async () => {
  const load = createRequire(fileURLToPath(new URL('../../../../../test/clients/package.json', import.meta.url)));
  const old = load('playwright-core-old') as { readonly chromium: typeof chromium };
  const { path: executablePath, env } = foundBrowser();
  const server = await use(
    old.chromium.launchServer({
      executablePath,
      chromiumSandbox: false,
      env: { ...process.env, ...env } as Record<string, string>,
    }),
  );
  const { lines, log } = createLines();
  const bench = await use(startRemoteBench([server.wsEndpoint()], { pool: { log } }));
  await bench.pool.warm();
  expect(lines[0]).toMatch(
    /its Playwright server has version 1\.54, but this server needs 1\.\d+ \(playwright-core 1\./,
  );
});
