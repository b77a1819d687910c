/** Pages in a browser of `lectern browser-worker` are confined like those of a local browser. */
import type { AddressInfo } from 'node:net';
import { afterAll } from 'vitest';
import { createGuard } from '#net/guard/guard.ts';
import { createEgressProxy } from '#net/proxy/egress-proxy.ts';
import { dataDir, foundBrowser } from '../browser.suite.ts';
import { testConfinement } from '../confinement.suite.ts';
import { createPool } from '../pool.ts';
import { startRemoteBench } from '../remote/remote-browser.suite.ts';
import { createBrowserGateway } from './gateway.ts';

const TOKEN = 'a token of the tests';
const closers: (() => Promise<void>)[] = [];
afterAll(async () => {
  for (const close of closers) await close();
});

testConfinement(async (setting) => {
  const egress = await createEgressProxy({ guard: createGuard() });
  const limits = { maxPages: 8, maxWaiting: 0 };
  const pool = createPool({
    found: foundBrowser(),
    openEgress: async () => egress,
    dataDir,
    forServers: { proxyHosts: [] },
    ...limits,
  });
  const metrics = async () => ({ type: 'text/plain', text: '' });
  const gateway = createBrowserGateway({ pool, token: TOKEN, maxAgeMs: 600_000, metrics });
  await new Promise<void>((resolve) => gateway.server.listen(0, '127.0.0.1', resolve));
  const { port } = gateway.server.address() as AddressInfo;
  closers.push(async () => {
    await gateway.close(0);
    await egress.close();
  });
  return startRemoteBench([`http://127.0.0.1:${port}`], { ...setting, pool: { token: TOKEN } });
});
