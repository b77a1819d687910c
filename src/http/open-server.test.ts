// Full run only: opens ports.
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { closeOtherAddresses, openServer } from './open-server.ts';

const servers: http.Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) {
    closeOtherAddresses(server);
    server.close();
    server.closeAllConnections();
  }
});

function create(): http.Server {
  const server = http.createServer((_, response) => response.end('tea'));
  servers.push(server);
  return server;
}

const portOf = (server: http.Server) => (server.address() as AddressInfo).port;
const LOOPBACK = ['127.0.0.1', '127.0.0.2'];

// Only Linux has all of 127.0.0.0/8.
it.runIf(process.platform === 'linux')('opens all addresses of localhost for the listeners of one server', async () => {
  const server = create();
  const seen: string[] = [];
  server.on('request', ({ socket }) => seen.push(socket.localAddress ?? ''));
  await openServer(server, { host: 'localhost', port: 0 }, async () => LOOPBACK);
  for (const address of LOOPBACK) {
    expect(await (await fetch(`http://${address}:${portOf(server)}/`)).text()).toBe('tea');
  }
  expect(seen.sort()).toEqual(LOOPBACK);
  closeOtherAddresses(server);
  await expect(fetch(`http://127.0.0.2:${portOf(server)}/`, { headers: { connection: 'close' } })).rejects.toThrow();
  expect((await fetch(`http://127.0.0.1:${portOf(server)}/`)).status).toBe(200);
});

it.runIf(process.platform === 'linux')('rejects if another program has the port at one of the addresses', async () => {
  const [one, two] = [create(), create()];
  await openServer(one, { host: '127.0.0.2', port: 0 });
  const opening = openServer(two, { host: 'localhost', port: portOf(one) }, async () => LOOPBACK);
  await expect(opening).rejects.toMatchObject({ code: 'EADDRINUSE', address: '127.0.0.2' });
});

it('leaves out addresses that this machine does not have, and names that cannot be looked up', async () => {
  const [one, two] = [create(), create()];
  await openServer(one, { host: 'localhost', port: 0 }, async () => ['127.0.0.1', '192.0.2.1']);
  await openServer(two, { host: 'localhost', port: 0 }, async () => {
    throw new Error('no such name');
  });
  for (const server of [one, two]) expect((await fetch(`http://localhost:${portOf(server)}/`)).status).toBe(200);
});

it('looks up no other host, and rejects if the port is in use', async () => {
  const [one, two] = [create(), create()];
  const never = async () => {
    throw new Error('looked up');
  };
  await openServer(one, { host: '127.0.0.1', port: 0 }, never);
  await expect(openServer(two, { host: '127.0.0.1', port: portOf(one) }, never)).rejects.toMatchObject({
    code: 'EADDRINUSE',
  });
});
