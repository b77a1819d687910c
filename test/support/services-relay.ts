import { connect, createServer, type Server, type Socket } from 'node:net';

/** A way to a server that can stop to pass anything on without breaking off, as a network does. */
export async function relayTo(address: string) {
  const target = new URL(address);
  const sockets = new Set<Socket>();
  let held = false;
  const server: Server = createServer((near) => {
    const far = connect(Number(target.port), target.hostname);
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => {
        sockets.delete(socket);
        near.destroy();
        far.destroy();
      });
      if (held) socket.pause();
    }
    near.on('data', (bytes) => far.write(bytes));
    far.on('data', (bytes) => near.write(bytes));
    if (held) for (const socket of [near, far]) socket.pause();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = new URL(address);
  url.port = String((server.address() as { port: number }).port);
  return {
    url: url.href,
    hold() {
      held = true;
      for (const socket of sockets) socket.pause();
    },
    pass() {
      held = false;
      for (const socket of sockets) socket.resume();
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
