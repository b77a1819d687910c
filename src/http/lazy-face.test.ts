// Full run only: opens ports.
import { EventEmitter, once } from 'node:events';
import { request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { connect } from 'node:net';
import os from 'node:os';
import pino from 'pino';
import { afterEach, expect, it } from 'vitest';
import { problem } from '#errors.ts';
import { createLazyFace, type LazyFace, type LazyFaceOptions } from './lazy-face.ts';
import { openServer } from './open-server.ts';
import { createServer, type Face } from './server.ts';

const OPTIONS: LazyFaceOptions['server'] = {
  name: 'test',
  log: pino({ level: 'silent' }),
  maxBodyBytes: 1_000,
  temporaryDir: os.tmpdir(),
  malformedBody: ({ name, message }) => ({ name, message }),
};

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

async function serve(options: Omit<LazyFaceOptions, 'server'>): Promise<LazyFace & { readonly url: string }> {
  const lazy = await createLazyFace({ server: OPTIONS, ...options });
  closing.push(lazy.close);
  await openServer(lazy.server, { host: '127.0.0.1', port: 0 });
  return { ...lazy, url: `http://127.0.0.1:${(lazy.server.address() as AddressInfo).port}` };
}

async function echo(prepare: (face: Face) => void = () => {}): Promise<Face> {
  const face = await createServer({
    ...OPTIONS,
    writeError: ({ code, name }, _, reply) => reply.code(code).send({ name }),
  });
  prepare(face);
  face.post('/echo', async ({ body }) => body);
  await face.ready();
  return face;
}

const post = (url: string) =>
  fetch(`${url}/echo`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"tea":"green"}' });

it('opens the API once, when the first requests arrive, and passes them with their bodies', async () => {
  let opened = 0;
  const { url } = await serve({
    open: async () => {
      opened += 1;
      return { face: await echo() };
    },
  });
  expect(opened).toBe(0);
  const answers = await Promise.all([post(url), post(url), post(url)]);
  for (const answer of answers) expect(await answer.json()).toEqual({ tea: 'green' });
  expect(await (await post(url)).json()).toEqual({ tea: 'green' });
  expect((await fetch(`${url}/unknown`)).status).toBe(404);
  expect(opened).toBe(1);
});

it('answers with the failure if the API cannot be opened, and tries again', async () => {
  let attempts = 0;
  const { url } = await serve({
    open: async () => {
      attempts += 1;
      if (attempts === 1) throw problem('ServiceAwayError');
      return { face: await echo() };
    },
  });
  const refused = await post(url);
  expect(refused.status).toBe(problem('ServiceAwayError').code);
  expect(await refused.json()).toMatchObject({ name: 'ServiceAwayError' });
  expect((await post(url)).status).toBe(200);
});

it('closes the API after its last request', async () => {
  const order: string[] = [];
  const steps = new EventEmitter();
  const { url, server, close } = await serve({
    open: async () => ({
      beforeClose: () => void order.push('before close'),
      face: await echo((face) => {
        face.get('/slow', async () => {
          steps.emit('begun');
          await once(steps, 'finish');
          order.push('answered');
          return {};
        });
        face.addHook('onClose', async () => void order.push('closed'));
      }),
    }),
  });
  await post(url);
  const begun = once(steps, 'begun');
  const slow = fetch(`${url}/slow`);
  await begun;
  const closed = close();
  await expect.poll(() => order).toEqual(['before close']);
  steps.emit('finish');
  expect(await (await slow).json()).toEqual({});
  server.closeIdleConnections();
  await closed;
  expect(order).toEqual(['before close', 'answered', 'closed']);
});

it('closes without having been opened', async () => {
  let opened = 0;
  const lazy = await createLazyFace({
    server: OPTIONS,
    open: async () => {
      opened += 1;
      return { face: await echo() };
    },
  });
  await openServer(lazy.server, { host: '127.0.0.1', port: 0 });
  await lazy.close();
  expect(opened).toBe(0);
});

const upgradeRequest = (url: string) =>
  request(`${url}/echo`, { headers: { connection: 'Upgrade', upgrade: 'tea' } }).end();

it('passes the first upgrade on', async () => {
  const { url } = await serve({
    takesUpgrades: true,
    open: async () => ({
      face: await echo(),
      upgrade: (_, socket) => {
        socket.end('HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: tea\r\n\r\n');
      },
    }),
  });
  for (let time = 0; time < 2; time++) {
    const [response, socket] = await once(upgradeRequest(url), 'upgrade');
    expect(response.headers.upgrade).toBe('tea');
    socket.destroy();
  }
});

it('closes the connection of an upgrade if the API cannot be opened', async () => {
  const { url } = await serve({
    takesUpgrades: true,
    open: async () => {
      throw problem('ServiceAwayError');
    },
  });
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  socket.write('GET / HTTP/1.1\r\nhost: localhost\r\nconnection: Upgrade\r\nupgrade: websocket\r\n\r\n');
  await once(socket, 'close');
  expect(socket.bytesRead).toBe(0);
});

it('serves a request with an upgrade as a plain one if it takes none', async () => {
  const { url } = await serve({
    open: async () => ({ face: await echo((face) => face.get('/', async () => 'plain')) }),
  });
  const sent = request(url, { headers: { connection: 'Upgrade', upgrade: 'h2c' } }).end();
  const [response] = await once(sent, 'response');
  expect(response.statusCode).toBe(200);
  response.resume();
});
