/**
 * Servers that share their pages: the index of the cache in PostgreSQL behind PgBouncer in transaction mode, and the
 * content in an S3 store. Each store is killed, suspended, slow and full while the servers read.
 */
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createCanvas } from '@napi-rs/canvas';
import { Document, ImageRun, Packer, Paragraph } from 'docx';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ServerProcess, startProcess } from '../support/process.ts';
import {
  postgresUrl,
  type S3Service,
  type Service,
  s3Bucket,
  startPgBouncer,
  startPostgres,
  startS3,
} from '../support/services.ts';
import { findProgram } from '../support/start-services.ts';

const LONG_MS = 240_000;
const none = !(await postgresUrl()) || !(await s3Bucket()) || !findProgram('pgbouncer');

const folders: string[] = [];
function makeFolder(): string {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'lectern-pages-'));
  folders.push(folder);
  return folder;
}

/** Requests by path. */
const requests = new Map<string, number>();
let docx: Buffer;
const site = http.createServer(async (request, response) => {
  const url = request.url!;
  const count = (requests.get(url) ?? 0) + 1;
  requests.set(url, count);
  if (url.startsWith('/stuck') && count === 1) return;
  // Long enough for other servers to ask for the same page.
  if (url.startsWith('/wait')) await sleep(400);
  if (url.endsWith('.docx')) {
    const type = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document';
    response.setHeader('content-type', type).end(docx);
    return;
  }
  response
    .setHeader('content-type', 'text/html')
    .end(`<title>Page</title><p>The words of ${url}, read ${count} times.`);
});

describe.skipIf(none)('servers that share their pages', { timeout: LONG_MS }, () => {
  let postgres: Service;
  let bouncer: Service;
  let s3: S3Service;
  let origin: string;
  let environment: Record<string, string>;
  const servers: ServerProcess[] = [];

  const start = async () => {
    const server = await startProcess({ ...environment, LECTERN_DATA_DIR: makeFolder() });
    servers.push(server);
    return server;
  };
  beforeAll(async () => {
    site.listen(0, '127.0.0.1');
    await once(site, 'listening');
    origin = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
    const image = new ImageRun({
      type: 'png',
      data: createCanvas(64, 64).toBuffer('image/png'),
      transformation: { width: 64, height: 64 },
    });
    const children = [new Paragraph('Text before the picture.'), new Paragraph({ children: [image] })];
    docx = await Packer.toBuffer(new Document({ sections: [{ children }] }));
    [postgres, s3] = (await Promise.all([startPostgres(), startS3()])) as [Service, S3Service];
    bouncer = (await startPgBouncer(postgres.url))!;
    await s3.makeBucket('pages');
    environment = {
      LECTERN_DATABASE_URL: bouncer.url,
      LECTERN_BLOBS_URL: 's3://pages/cache',
      LECTERN_BLOBS_ENDPOINT: s3.url,
      LECTERN_BLOBS_ACCESS_KEY: s3.credentials.accessKeyId,
      LECTERN_BLOBS_SECRET_KEY: s3.credentials.secretAccessKey,
      LECTERN_ALLOW_NETWORKS: '127.0.0.0/8',
      LECTERN_BROWSER: 'none',
      LECTERN_AUTH: 'off',
      LECTERN_LIMIT_STORE: 'memory',
      LECTERN_INDEX_MAX_BYTES: '0',
      LECTERN_LOG_LEVEL: 'info',
    };
    await Promise.all([start(), start()]);
  }, LONG_MS);
  afterAll(async () => {
    await Promise.all(servers.map((server) => server.stop()));
    await Promise.all([bouncer?.close(), s3?.close()]);
    await postgres?.close();
    site.closeAllConnections();
    site.close();
    for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  }, LONG_MS);

  async function read(server: ServerProcess, page: string, headers: Record<string, string> = {}) {
    const answer = await fetch(`${server.urlOf('reader')}/${origin}${page}`, {
      headers: { accept: 'application/json', ...headers },
    });
    const body = (await answer.json()) as { data?: { content: string } };
    expect([answer.status, body]).toMatchObject([200, {}]);
    return body.data!.content;
  }
  const stores = async (server: ServerProcess) =>
    ((await (await fetch(`${server.urlOf('reader')}/health`)).json()) as { stores: Record<string, string> }).stores;
  const away = { timeout: 60_000, interval: 300 };

  it('read each page once between them', async () => {
    const pages = Array.from({ length: 12 }, (_, n) => `/wait/${n}`);
    const texts = await Promise.all(
      pages.flatMap((page) => [...servers, ...servers].map((server) => read(server, page))),
    );
    for (const [n, text] of texts.entries()) expect(text).toContain(`The words of ${pages[Math.floor(n / 4)]}, read 1`);
    for (const page of pages) expect([page, requests.get(page)]).toEqual([page, 1]);
    // What one of them stored, the other one serves.
    await read(servers[0]!, '/once');
    await expect.poll(async () => (await read(servers[1]!, '/once')) && requests.get('/once'), { timeout: 1 }).toBe(1);
  });

  it('do not wait for each other where nothing may be stored', async () => {
    const texts = await Promise.all(servers.map((server) => read(server, '/wait/private', { dnt: '1' })));
    expect(texts).toHaveLength(2);
    expect(requests.get('/wait/private')).toBe(2);
  });

  it('serve the pictures of each other', async () => {
    const [one, other] = servers as [ServerProcess, ServerProcess];
    const content = await read(one, '/picture.docx', { 'x-retain-images': 'all' });
    const [, name] = /(\/\.pictures\/[\w-]{32}\.png)/.exec(content)!;
    const [own, others] = await Promise.all([one, other].map((server) => fetch(server.urlOf('reader') + name)));
    expect([own!.status, others!.status]).toEqual([200, 200]);
    expect(others!.headers.get('content-type')).toBe('image/png');
    expect(Buffer.from(await others!.arrayBuffer())).toEqual(Buffer.from(await own!.arrayBuffer()));
    expect((await fetch(`${other.urlOf('reader')}/.pictures/${'x'.repeat(32)}.png`)).status).toBe(404);
  });

  it('take over the read of a server that was killed', async () => {
    const killed = await start();
    const lost = read(killed, '/stuck/page').catch(() => 'lost');
    await expect.poll(() => requests.get('/stuck/page'), away).toBe(1);
    const waiting = Promise.all(servers.slice(0, 2).map((server) => read(server, '/stuck/page')));
    killed.child.kill('SIGKILL');
    expect(await lost).toBe('lost');
    for (const text of await waiting) expect(text).toContain('read 2 times');
    expect(requests.get('/stuck/page')).toBe(2);
    servers.pop();
  });

  /** Reads new pages while a store fails: they are answered, the failure is shown, and afterwards the cache works again. */
  async function survives(name: string, store: 'cache' | 'blobs', fail: () => unknown, recover: () => unknown) {
    // Copies that the server does not have in memory, because another one stored them.
    const elsewhere = (at: number, n: number) => `/${name}/elsewhere/${at}/${n % 20}`;
    for (const at of servers.keys())
      for (let n = 0; n < 20; n++) await read(servers[(at + 1) % servers.length]!, elsewhere(at, n));
    await fail();
    try {
      for (let n = 0; n < 12; n++) {
        const text = await read(servers[n % 2]!, `/${name}/${n}`);
        expect(text).toContain(`The words of /${name}/${n}`);
      }
      // Pages are stored after they were answered.
      for (const [at, server] of servers.entries()) {
        let n = 0;
        const state = async () => {
          await read(server, `/${name}/away/${at}/${n}`);
          // A slow store still takes what is written, but a read does not wait for it.
          await read(server, elsewhere(at, n++));
          return (await stores(server))[store];
        };
        await expect.poll(state, away).toBe('away');
        expect(server.lines.some((line) => /cannot be (?:reached|read|written)/.test(line))).toBe(true);
      }
    } finally {
      await recover();
    }
    // Monitoring of an idle server sees it too.
    if (store === 'cache') {
      for (const server of servers) await expect.poll(async () => (await stores(server)).cache, away).toBe('ok');
    }
    for (const [at, server] of servers.entries()) {
      let n = 0;
      // A page that is read twice and fetched once shows that the cache works again.
      const cached = async () => {
        const page = `/${name}/after/${at}/${n++}`;
        await read(server, page);
        await read(server, page);
        return requests.get(page);
      };
      await expect.poll(cached, { timeout: 90_000, interval: 500 }).toBe(1);
      await expect.poll(async () => (await stores(server))[store], away).toBe('ok');
    }
  }

  it('serve what they have read before from memory while the S3 store is down', async () => {
    for (const server of servers) await read(server, '/once');
    await s3.kill();
    try {
      for (const server of servers) for (let n = 0; n < 5; n++) await read(server, '/once');
    } finally {
      await s3.start();
    }
    expect(requests.get('/once')).toBe(1);
    for (const server of servers) expect((await stores(server)).blobs).toBe('ok');
  });

  it('go on while the S3 store is down', () =>
    survives(
      's3-down',
      'blobs',
      () => s3.kill(),
      () => s3.start(),
    ));

  it('go on while the S3 store hangs', () =>
    survives(
      's3-hangs',
      'blobs',
      () => s3.suspend(),
      () => s3.resume(),
    ));

  it('go on while the S3 store is slow', () => survives('s3-slow', 'blobs', ...condition('slow')));

  it('go on while the S3 store is full', () => survives('s3-full', 'blobs', ...condition('full')));

  function condition(name: string): [() => void, () => void] {
    return [() => writeFileSync(path.join(s3.folder, name), ''), () => rmSync(path.join(s3.folder, name))];
  }

  it('go on while PostgreSQL is down', () =>
    survives(
      'postgres-down',
      'cache',
      () => postgres.kill(),
      () => postgres.start(),
    ));

  it('go on while PostgreSQL hangs', () =>
    survives(
      'postgres-hangs',
      'cache',
      () => bouncer.suspend(),
      () => bouncer.resume(),
    ));

  it('answer every read while both stores are restarted, and leave a consistent index', async () => {
    let running = true;
    const load = servers.map(async (server, at) => {
      let reads = 0;
      for (; running; reads++) expect(await read(server, `/load/${(reads * 7 + at) % 40}`)).toContain('/load/');
      return reads;
    });
    for (let round = 0; round < 2; round++) {
      await sleep(500);
      await s3.kill();
      await sleep(500);
      await postgres.kill();
      await s3.start();
      await sleep(500);
      await postgres.start();
    }
    running = false;
    for (const reads of await Promise.all(load)) expect(reads).toBeGreaterThan(0);
    const client = new pg.Client({ connectionString: postgres.url });
    await client.connect();
    const { rows } = await client.query(`
      SELECT (SELECT count(*) FROM cache_parts p JOIN cache_blobs b USING (hash) WHERE b.removing_until IS NOT NULL) AS removed,
        (SELECT count(*) FROM cache_parts p JOIN cache_blobs b USING (hash) WHERE b.stored = 0) AS missing`);
    await client.end();
    expect(rows).toEqual([{ removed: '0', missing: '0' }]);
  });
});
