/**
 * Finds consecutive free ports. They are below the ports that Linux gives to outgoing connections and to servers without
 * a port of their own (32768 and above), so that none of these takes one before it is used.
 */
import { once } from 'node:events';
import { createServer } from 'node:net';

/** The first of `count` consecutive free ports. */
export async function freePorts(count = 1): Promise<number> {
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
  if (free) {
    probe.close();
    await once(probe, 'close');
  }
  return free;
}
