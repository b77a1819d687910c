/** Pages over TLS, with valid and invalid certificates, and through proxies other than plain HTTP. */
import { createServer } from 'node:https';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { started } from '#net/loopback.suite.ts';
import { CERTIFICATE, KEY, startHttpProxy, startSocks } from '#net/proxy.suite.ts';
import { type Bench, startBench } from './browser.suite.ts';

async function startSecureSite() {
  const headers = new Map<string, Record<string, unknown>>();
  const site = await started(
    createServer({ key: KEY, cert: CERTIFICATE }, (request, response) => {
      headers.set(request.url!, request.headers);
      response
        .writeHead(200, { 'content-type': 'text/html', 'set-cookie': '__Host-seen=1; Path=/; Secure' })
        .end('<!doctype html><title>Secure</title><p>Behind TLS.</p><script>fetch("/part")</script>');
    }),
  );
  return { ...site, url: `https://${site.host}/`, headers };
}

let bench: Bench;
beforeAll(async () => {
  bench = await startBench({ allow: ['127.0.0.1'] });
});
afterAll(() => bench.close());

const last: Bench['last'] = (...read) => bench.last(...read);
const skipCertVerification = true;

it('verifies certificates unless an option disables it', async () => {
  const site = await startSecureSite();
  await expect(last(site.url)).rejects.toMatchObject({
    name: 'AssertionFailureError',
    message: 'The certificate of the page is not valid',
  });
  expect((await last(site.url, { skipCertVerification })).text).toContain('Behind TLS.');
});

it('sends headers and cookies of the caller over TLS', async () => {
  const site = await startSecureSite();
  const customHeader = { authorization: 'Bearer mine' };
  const setCookies = ['__Secure-pass=1; Secure', 'plain=2'];
  const page = await last(site.url, { skipCertVerification, customHeader, setCookies, exportStorageState: true });
  for (const path of ['/', '/part']) {
    expect(site.headers.get(path), path).toMatchObject({ authorization: 'Bearer mine' });
    expect(site.headers.get(path)!.cookie, path).toMatch(/__Secure-pass=1/);
  }
  expect(page.storageState!.cookies.map(({ name }) => name).sort()).toEqual(['__Host-seen', '__Secure-pass', 'plain']);
});

it('uses proxies of every kind, with their credentials', async () => {
  const account = { username: 'someone', password: 'p@ss:word' };
  const login = `${account.username}:${encodeURIComponent(account.password)}@`;
  const site = await startSecureSite();
  const proxies = [
    { proxy: await startHttpProxy({ account }), scheme: 'http' },
    { proxy: await startHttpProxy({ account, secure: true }), scheme: 'https' },
    { proxy: await startSocks({ account }), scheme: 'socks5' },
    { proxy: await startSocks(), scheme: 'socks4' },
  ];
  for (const { proxy, scheme } of proxies) {
    const proxyUrl = `${scheme}://${scheme === 'socks4' ? '' : login}${proxy.host}`;
    const page = await last(site.url, { proxyUrl, skipCertVerification });
    expect(page.text, scheme).toContain('Behind TLS.');
    expect(proxy.targets.join(' '), scheme).toContain(site.host);
    expect((await last('/article', { proxyUrl, skipCertVerification })).text, scheme).toContain('Mackerel');
    expect(proxy.targets.join(' '), scheme).toContain(new URL(bench.site.origin).host);
  }
});

it('names a proxy that refuses the connection or the credentials', async () => {
  const { host } = await startSocks({ reply: 5 });
  const locked = await startHttpProxy({ account: { username: 'someone', password: 'secret' } });
  for (const proxyUrl of [`socks5://${host}`, `http://someone:guess@${locked.host}`, `http://${locked.host}`]) {
    const error = await last('/article', { proxyUrl }).catch((thrown) => thrown);
    expect(error, proxyUrl).toMatchObject({ name: 'AssertionFailureError', facts: { path: 'proxyUrl' } });
    expect(error.message).not.toMatch(/guess|someone|127\.0/);
  }
});
