/** A server shuts down at once even if connections are open on which no request has arrived. */
import { once } from 'node:events';
import net from 'node:net';
import { expect, it } from 'vitest';
import { startServer } from '../support/server.ts';

it('closes connections without a request before the drain time is over', async () => {
  // Longer than the time limit of this test.
  const server = await startServer({ browser: 'none', drainMs: 600_000 });
  const sockets = ['reader', 'search', 'model', 'flow'].map((name) => {
    const { hostname, port } = new URL(server.urls[name]!);
    return net.connect(Number(port), hostname);
  });
  await Promise.all(sockets.map((socket) => once(socket, 'connect')));
  const closed = Promise.all(sockets.map((socket) => once(socket, 'close')));
  // Once the server has responded on a later connection, it has accepted the earlier ones.
  expect((await fetch(`${server.reader}/live`)).status).toBe(200);
  await server.close();
  await closed;
});
