/** Files that were put into the index from the command line are found and answered through the search host. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { readConfig } from '#config.ts';
import { fill, openIndexOf } from '#search/index.ts';
import { createLog } from '#telemetry/log.ts';
import { startServer, type TestServer } from '../support/server.ts';

let server: TestServer;
let folder: string;
beforeAll(async () => {
  server = await startServer({ browser: 'none' });
  folder = await mkdtemp(path.join(os.tmpdir(), 'lectern-files-'));
  await mkdir(path.join(folder, 'notes', 'animals'), { recursive: true });
  await writeFile(
    path.join(folder, 'notes', 'animals', 'penguin.md'),
    '# Penguins\n\nPenguins huddle in the dark of the winter to keep each other warm.\n',
  );
  await writeFile(path.join(folder, 'notes', 'tax.txt'), 'The tax office wants its form until May, signed by hand.\n');
  const log = createLog('silent');
  const config = readConfig({ environment: {}, flags: { dataDir: server.dataDir } });
  const index = await openIndexOf(config, { log });
  const options = { depth: 0, maxPages: 10, delayMs: 0, agent: 'test', signal: new AbortController().signal };
  const tools = { index, reader: server.app.reader, log };
  const told = await fill(path.join(folder, 'notes'), config, tools, { ...options, onProgress() {} });
  expect(told.added).toBe(2);
  await index.close();
});
afterAll(async () => {
  await server.close();
  await rm(folder, { recursive: true, force: true });
});

it('with their text, under a name that tells nothing of the folders above', async () => {
  const headers = { accept: 'application/json', authorization: `Bearer ${server.app.firstKey}` };
  const answer = await fetch(`${server.urls.search}/search?q=penguins+winter&provider=reader`, { headers });
  const body = (await answer.json()) as { data: { url: string; title: string; content: string }[] };
  expect(answer.status).toBe(200);
  expect(body.data[0]).toMatchObject({ url: 'file:///notes/animals/penguin.md', title: 'penguin.md' });
  expect(body.data[0]!.content).toContain('huddle in the dark');
  expect(JSON.stringify(body)).not.toContain(folder);
});
