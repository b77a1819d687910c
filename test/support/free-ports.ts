/** Finds consecutive free ports, for examples that use the default ports of the server. */
import { once } from 'node:events';
import { createServer } from 'node:net';

/** The first of `count` consecutive free ports. */
export async function freePorts(count: number): Promise<number> {
  for (;;) {
    const first = 20_000 + Math.floor(Math.random() * 10_000);
    const tried = await Promise.all(Array.from({ length: count }, (_, at) => isFree(first + at)));
    if (tried.every(Boolean)) return first;
  }
}

async function isFree(tried: number): Promise<boolean> {
  const probe = createServer().listen(tried, '127.0.0.1');
  const free = await once(probe, 'listening').then(
    () => true,
    () => false,
  );
  probe.close();
  return free;
}
