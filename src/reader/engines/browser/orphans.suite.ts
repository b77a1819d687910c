/** A server for a test to kill: it starts a browser, prints the PIDs of both, and waits. */

import { createGuard } from '#net/guard/guard.ts';
import { createEgressProxy } from '#net/proxy/egress-proxy.ts';
import { createPool } from './pool.ts';

const [dataDir, found] = process.argv.slice(2);
const pool = createPool({
  found: JSON.parse(found!),
  openEgress: () => createEgressProxy({ guard: createGuard() }),
  dataDir: dataDir!,
  maxPages: 1,
  maxWaiting: 0,
});
const { pid } = await pool.warm();
process.stdout.write(JSON.stringify({ server: process.pid, browser: pid }));
setInterval(() => {}, 60_000);
