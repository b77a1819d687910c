import { connect, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** How long data is held back in each direction, in milliseconds. */
export interface Delays {
  readonly toServer?: number;
  readonly toClient?: number;
}

/**
 * A TCP proxy that can stop forwarding data without closing its connections, like a stalled network, or forward it late,
 * like a slow one.
 */
export async function startPausableProxy(serverUrl: string) {
  const target = new URL(serverUrl);
  const sockets = new Set<Socket>();
  let paused = false;
  let delays: Delays = {};
  let watch: ((bytes: Buffer) => void) | undefined;

  /** Forwards data in order, each piece after the delay that applies when it arrives. */
  function forward(from: Socket, to: Socket, direction: keyof Delays): void {
    let last = Promise.resolve();
    let waiting = 0;
    from.on('data', (bytes: Buffer) => {
      if (direction === 'toServer') watch?.(bytes);
      const due = performance.now() + (delays[direction] ?? 0);
      if (!waiting && !delays[direction]) return void to.write(bytes);
      waiting += 1;
      last = last.then(async () => {
        const leftMs = due - performance.now();
        if (leftMs > 0) await sleep(leftMs, undefined, { ref: false });
        waiting -= 1;
        if (to.writable) to.write(bytes);
      });
    });
  }

  const server: Server = createServer((client) => {
    const upstream = connect(Number(target.port), target.hostname);
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => {
        sockets.delete(socket);
        client.destroy();
        upstream.destroy();
      });
      if (paused) socket.pause();
    }
    forward(client, upstream, 'toServer');
    forward(upstream, client, 'toClient');
    if (paused) for (const socket of [client, upstream]) socket.pause();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = new URL(serverUrl);
  url.port = String((server.address() as { port: number }).port);
  return {
    url: url.href,
    pause() {
      paused = true;
      for (const socket of sockets) socket.pause();
    },
    resume() {
      paused = false;
      for (const socket of sockets) socket.resume();
    },
    /** Data that arrives from now on is held back. */
    delay(next: Delays) {
      delays = next;
    },
    /** Calls `listener` with all data for the server, before it is forwarded. */
    watch(listener: ((bytes: Buffer) => void) | undefined) {
      watch = listener;
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
