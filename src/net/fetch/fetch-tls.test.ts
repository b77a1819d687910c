/**
 * Tests TLS: certificates are verified, SNI contains the host name, and only the checked IP address is connected to.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:https';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { TLSSocket } from 'node:tls';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { resolverOf, started, startFetch, startServer } from '../loopback.suite.ts';
import { CERTIFICATE, KEY } from '../proxy.suite.ts';

async function startSecureSite() {
  const names: unknown[] = [];
  const site = await started(
    createServer({ key: KEY, cert: CERTIFICATE }, (request, response) => {
      names.push((request.socket as TLSSocket & { servername?: string }).servername);
      response.end('secure');
    }),
  );
  return { ...site, names };
}

test('refuses an untrusted certificate', async () => {
  const site = await startSecureSite();
  const fetch = startFetch([site], { lookup: resolverOf({ 'site.example': ['127.0.0.1'] }) });
  for (const host of ['site.example', '127.0.0.1']) {
    await expect(fetch(`https://${host}:${site.port}/`)).rejects.toMatchObject({
      name: 'AssertionFailureError',
      message: 'The certificate of the target is not valid (DEPTH_ZERO_SELF_SIGNED_CERT)',
    });
  }
  expect(site.names).toEqual([]);
});

test('accepts an untrusted certificate on request, with the name in SNI', async () => {
  const site = await startSecureSite();
  const fetch = startFetch([site], { lookup: resolverOf({ 'site.example': ['127.0.0.1'] }) });
  for (const host of ['site.example', '127.0.0.1']) {
    const response = await fetch(`https://${host}:${site.port}/`, { acceptInvalidCertificates: true });
    expect(Buffer.from((await response.collect()).bytes).toString()).toBe('secure');
  }
  expect(site.names).toEqual(['site.example', false]);
});

test('a connection opened without verification is not reused for a request with verification', async () => {
  const site = await startSecureSite();
  const fetch = startFetch([site]);
  const url = `https://${site.host}/`;
  await (await fetch(url, { acceptInvalidCertificates: true })).collect();
  await expect(fetch(url)).rejects.toMatchObject({ name: 'AssertionFailureError' });
});

test('a site that does not support TLS is a failure', async () => {
  const site = await startServer((_, response) => response.end('plain'));
  await expect(startFetch([site])(`https://${site.host}/`)).rejects.toMatchObject({
    name: 'AssertionFailureError',
    message: 'No secure connection to the target could be established',
  });
});

test('reads a site with a valid certificate, and refuses it under another name', async () => {
  const site = await startSecureSite();
  const folder = await mkdtemp(path.join(tmpdir(), 'lectern-tls-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const authority = path.join(folder, 'ca.pem');
  await writeFile(authority, CERTIFICATE);
  // Node loads trusted certificates only at startup.
  const script = `
    import { createFetch } from '#net/fetch/fetch.ts';
    import { createGuard } from '#net/guard/guard.ts';
    const guard = createGuard({ allow: ['${site.host}'], lookup: async () => [{ address: '127.0.0.1', family: 4 }] });
    const fetch = createFetch({ guard });
    const outcomes = [];
    for (const host of ['site.example', '127.0.0.1', 'other.example']) {
      outcomes.push(await fetch('https://' + host + ':${site.port}/').then((response) => response.status, (error) => error.message));
    }
    await fetch.close();
    console.log(JSON.stringify(outcomes));`;
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--conditions=source', '--import', 'tsx', '--input-type=module', '--eval', script],
    {
      env: { ...process.env, NODE_EXTRA_CA_CERTS: authority },
      cwd: fileURLToPath(new URL('../../..', import.meta.url)),
    },
  );
  expect(JSON.parse(stdout)).toEqual([
    200,
    200,
    'The certificate of the target is not valid (ERR_TLS_CERT_ALTNAME_INVALID)',
  ]);
});
