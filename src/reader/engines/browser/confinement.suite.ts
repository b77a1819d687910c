/** Tests that pages reach nothing past the guard, for browsers of this server and for browsers elsewhere. */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Bench, BenchSetting } from './browser.suite.ts';

/** Counts connections and UDP datagrams to a port of this machine. */
async function listenSecretly(host: string) {
  let connections = 0;
  const server = createServer((socket) => {
    connections++;
    socket.on('error', () => {});
    socket.end('HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 6\r\n\r\nSECRET');
  });
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(0, host, resolve));
  const { port } = server.address() as AddressInfo;
  const datagrams = createSocket(host.includes(':') ? 'udp6' : 'udp4', () => connections++);
  datagrams.bind(port, host);
  await once(datagrams, 'listening');
  return {
    port,
    connections: () => connections,
    async close() {
      datagrams.close();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

type Secret = Awaited<ReturnType<typeof listenSecretly>>;
export function testConfinement(startBench: (setting: BenchSetting) => Promise<Bench>): void {
  let secret: Secret;
  let secret6: Secret | undefined;
  let bench: Bench;

  beforeAll(async () => {
    secret = await listenSecretly('127.0.0.1');
    secret6 = await listenSecretly('::1').catch(() => undefined);
    bench = await startBench({
      names: { 'rebound.example': '127.0.0.1', 'inside.example': '10.0.0.1' },
      pages: {
        '/attack': ({ response, url }) => {
          const targets = url.searchParams.getAll('at');
          const first = targets[0]!;
          response
            .writeHead(200, { 'content-type': 'text/html' })
            .end(`<!doctype html><title>Attack</title><p>Readable text.</p><p id="got"></p>
<link rel="dns-prefetch" href="//${first}"><link rel="preconnect" href="http://${first}"><link rel="stylesheet" href="http://${first}/a.css">
<script>const targets = ${JSON.stringify(targets)}; const got = (what) => { document.getElementById('got').append(what + ' '); };
for (const target of targets) {
  fetch('http://' + target + '/fetch', { mode: 'no-cors' }).then((answer) => answer.text(), () => '').then((text) => text && got('FETCHED'));
  try { const socket = new WebSocket('ws://' + target + '/socket'); socket.onopen = () => got('SOCKET'); } catch {}
  try { new EventSource('http://' + target + '/events').onmessage = () => got('EVENT'); } catch {}
  new Image().src = 'http://' + target + '/image.png';
  navigator.sendBeacon('http://' + target + '/beacon', 'x');
  const frame = document.createElement('iframe'); frame.src = 'http://' + target + '/frame'; document.body.append(frame);
  const link = document.createElement('link'); link.rel = 'prefetch'; link.href = 'http://' + target + '/prefetch'; document.head.append(link);
  try { const peer = new RTCPeerConnection({ iceServers: [{ urls: 'stun:' + target }, { urls: 'turn:' + target + '?transport=tcp', username: 'a', credential: 'b' }] });
    peer.createDataChannel('x'); peer.createOffer().then((offer) => peer.setLocalDescription(offer)); } catch {}
  try { new WebTransport('https://' + target + '/transport').ready.then(() => got('TRANSPORT'), () => {}); } catch {}
  try { window.open('http://' + target + '/window'); } catch {}
}
new Worker(URL.createObjectURL(new Blob(["fetch('http://${first}/worker',{mode:'no-cors'})"])));
for (const address of ['file:///etc/passwd', 'view-source:http://${first}/', 'chrome://version/']) {
  const frame = document.createElement('iframe'); frame.src = address; document.body.append(frame);
}
setTimeout(() => { location.href = 'http://${first}/navigate'; }, 300);
</script>`);
        },
        '/send': ({ response, url }) => void response.writeHead(302, { location: url.searchParams.get('to')! }).end(),
        '/send-by-form': ({ response, url }) =>
          void response
            .writeHead(200, { 'content-type': 'text/html' })
            .end(`<!doctype html><title>Form</title><p>Readable text.</p>
<form action="${url.searchParams.get('to')}" method="post"><input name="a"></form><script>document.forms[0].submit()</script>`),
      },
    });
    // Launched or connected first, so that the time limit of the first page does not include it.
    await bench.pool.warm();
  });
  afterAll(async () => {
    await bench.close();
    await secret.close();
    await secret6?.close();
  });

  const quiet = () => expect([secret.connections(), secret6?.connections() ?? 0]).toEqual([0, 0]);

  const refused = { name: 'SecurityCompromiseError', status: 45102 };
  const attack = (...targets: string[]) =>
    `/attack?${new URLSearchParams(targets.map((target): [string, string] => ['at', target]))}`;

  describe('a page in the browser', () => {
    it('cannot reach the local network by any means, and is still read', async () => {
      const targets = [
        `rebound.example:${secret.port}`,
        `inside.example:${secret.port}`,
        '169.254.169.254',
        '10.0.0.1',
      ];
      const page = await bench.last(attack(...targets), { withIframe: true }, 8_000);
      expect(page.text).toContain('Readable text.');
      expect(page.text.replaceAll(/<script>.*?<\/script>/gs, '')).not.toMatch(/SECRET|SOCKET|TRANSPORT|FETCHED|root:/);
      quiet();
      // The attempts reached the proxy, so they were blocked by the proxy.
      expect(bench.requests.filter(({ port }) => port === secret.port).length).toBeGreaterThan(10);
      expect(bench.requests.some(({ host }) => host === '169.254.169.254')).toBe(true);
    });

    it('is stopped when it calls this machine, under any spelling', async () => {
      const { port } = secret;
      const targets = [
        `localhost:${port}`,
        `2130706433:${port}`,
        `[::ffff:127.0.0.1]:${port}`,
        `[::1]:${secret6?.port ?? port}`,
        `secret.localhost:${port}`,
      ];
      const stopped = { ...refused, message: 'The page sends requests to this server or its machine' };
      await Promise.all(
        targets.map((target) => expect(bench.last(attack(target), {}, 8_000), target).rejects.toMatchObject(stopped)),
      );
      quiet();
      expect(bench.pool.status().pages).toBe(0);
    });

    it('stays when it navigates to a refused URL, and is stopped when that is this machine', async () => {
      const form = (to: string) => bench.last(`/send-by-form?to=${encodeURIComponent(to)}`, {}, 5_000);
      expect((await form('http://10.0.0.1/form')).text).toContain('Readable text.');
      await expect(form(`http://127.0.0.1:${secret.port}/form`)).rejects.toMatchObject(refused);
      quiet();
    });

    it('reaches allowed hosts', async () => {
      expect((await bench.last('/rendered')).text).toContain('first word');
      expect((await bench.last(`${bench.site.otherOrigin}/article`)).text).toContain('Mackerel');
    });
  });

  describe('a refused URL', () => {
    it('is refused before the browser is involved', async () => {
      for (const url of [
        `http://127.0.0.1:${secret.port}/`,
        `http://localhost:${secret.port}/`,
        'http://169.254.169.254/latest/',
        `http://[::1]:${secret.port}/`,
      ]) {
        await expect(bench.last(url), url).rejects.toMatchObject(refused);
      }
      quiet();
    });

    it('is refused after a redirect, over http and https', async () => {
      for (const to of [
        `http://127.0.0.1:${secret.port}/x`,
        `https://127.0.0.1:${secret.port}/x`,
        `http://localhost:${secret.port}/x`,
      ]) {
        await expect(bench.last(`/send?to=${encodeURIComponent(to)}`), to).rejects.toMatchObject(refused);
      }
      quiet();
    });

    it('does not reveal details about the network in its message', async () => {
      const error = await bench.last(`/send?to=http://127.0.0.1:${secret.port}/`).catch((thrown) => thrown);
      expect(`${error.message} ${JSON.stringify(error.facts)}`).not.toMatch(/127\.0|localhost|\d{4,}/);
    });
  });

  describe('a URL that cannot be read', () => {
    it('has a host name that does not exist', async () => {
      await expect(bench.last('http://no-such-name.invalid/')).rejects.toMatchObject({
        name: 'ParamValidationError',
        facts: { path: 'url' },
      });
    });

    it('does not respond', async () => {
      const server = createHttpServer();
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      const { port } = server.address() as AddressInfo;
      await new Promise((resolve) => server.close(resolve));
      const other = await startBench({ allow: [`127.0.0.1:${port}`] });
      try {
        await expect(other.last(`http://127.0.0.1:${port}/`)).rejects.toMatchObject({
          name: 'AssertionFailureError',
          code: 422,
        });
      } finally {
        await other.close();
      }
    });
  });
}
