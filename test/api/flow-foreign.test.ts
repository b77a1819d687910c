/** A flow without a token rejects web pages of other sites. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { createCrossSiteRefusal } from '#app/flow-cross-site.ts';
import { defineFlow, serveFlow } from '#flow/index.ts';

const EVIL = { origin: 'https://evil.example' };
type Server = Awaited<ReturnType<typeof serveFlow>>;
const servers: Server[] = [];
async function start(gateway: Record<string, unknown>) {
  const definition = defineFlow({ protocol: 'HTTP', port: 0, host: '127.0.0.1', ...gateway })
    .add({ name: 'pass' })
    .definition();
  const refuse = createCrossSiteRefusal(definition.gateway, [definition.gateway.host]);
  const server = await serveFlow({ definition, version: '0.0.0-test', refuse });
  servers.push(server);
  return server.places[0]!.url;
}
let plain: string;
beforeAll(async () => {
  plain = await start({});
});
afterAll(() => Promise.all(servers.map((server) => server.close())));

const post = (url: string, headers: Record<string, string> = {}) =>
  fetch(`${url}/post`, {
    method: 'POST',
    body: '{"data":[{"text":"a"}],"execEndpoint":"/"}',
    headers: { 'content-type': 'application/json', ...headers },
  });
const socket = (url: string, headers: Record<string, string>) =>
  new Promise<boolean>((resolve) => {
    const opened = new WebSocket(`${url.replace('http', 'ws')}/stream`, { headers });
    opened.on('open', () => {
      opened.close();
      resolve(true);
    });
    opened.on('error', () => resolve(false));
  });

it('refuses them over REST and WebSocket, and serves programs', async () => {
  expect((await post(plain, EVIL)).status).toBe(403);
  expect(await socket(plain, EVIL)).toBe(false);
  expect((await post(plain)).status).toBe(200);
  expect(await socket(plain, {})).toBe(true);
});

it('serves them when its option cors says so', async () => {
  const open = await start({ cors: true });
  expect((await post(open, EVIL)).status).toBe(200);
});
