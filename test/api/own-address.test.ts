/** A server that may read its own machine never reads itself, either by URL or after a redirect. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Site, startSite } from '../site/site.ts';
import { startServer, type TestServer } from '../support/server.ts';

const LONG_MS = 120_000;

let site: Site;
let server: TestServer;
beforeAll(async () => {
  site = await startSite({
    '/away': ({ response, url }) =>
      void response.writeHead(302, { location: url.searchParams.get('to') ?? '/article' }).end(),
  });
  server = await startServer({ allowNetworks: '127.0.0.0/8,localhost,::1,0.0.0.0' });
});
afterAll(async () => {
  await server.close();
  await site.close();
});

async function read(target: string, engine: string) {
  const headers = { accept: 'application/json', 'x-engine': engine, 'x-no-cache': 'true' };
  const answer = await fetch(`${server.reader}/${target}`, { headers });
  return (await answer.json()) as { code: number; name?: string; data?: { title: string } };
}
const at = (url: string, host: string) => Object.assign(new URL(url), { host: `${host}:${new URL(url).port}` }).href;
const away = (to: string) => `${site.origin}/away?to=${encodeURIComponent(to)}`;

it.each(['direct', 'browser'])(
  'with the engine %s',
  async (engine) => {
    expect((await read(away('/article'), engine)).data?.title).toBeTruthy();
    const refused = { code: 451, name: 'SecurityCompromiseError' };
    for (const host of ['127.0.0.1', 'localhost', '127.0.0.2', '0.0.0.0']) {
      expect(await read(away(at(server.reader, host)), engine), host).toMatchObject(refused);
    }
    for (const target of [at(server.reader, 'localhost'), server.urls.search!, server.urls.flow!]) {
      expect(await read(target, engine), target).toMatchObject(refused);
    }
  },
  LONG_MS,
);
