import { stat } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import type { HostFace, HostFaces } from '#api/hosts.ts';
import { openInProcess } from './in-process.ts';

const naming = (name: string): HostFace => ({
  routing: async (request, response) => {
    let body = '';
    for await (const piece of request) body += piece;
    response.end(`${name} ${request.method} ${request.url} ${body}`);
  },
});

it('reaches each face by its name, and none after closing', async () => {
  const faces = Object.fromEntries(['reader', 'search', 'model', 'flow'].map((name) => [name, naming(name)]));
  const opened = await openInProcess(faces as unknown as HostFaces);
  const { fetch, urls } = opened;
  const answers = await Promise.all(
    Object.values(urls).map(async (url) => (await fetch(`${url}/a?b`, { method: 'POST', body: 'c' })).text()),
  );
  expect(answers).toEqual(['reader', 'search', 'model', 'flow'].map((name) => `${name} POST /a?b c`));
  await opened.close();
  await expect(fetch(urls.reader)).rejects.toThrow();
});

it('sends forms with files', async () => {
  const opened = await openInProcess({ reader: naming('reader') } as unknown as HostFaces);
  const form = new FormData();
  form.append('file', new Blob(['bytes']), 'a.txt');
  const answer = await opened.fetch(opened.urls.reader, { method: 'POST', body: form });
  expect(await answer.text()).toMatch(/^reader POST \/ --.*name="file"; filename="a.txt".*bytes.*--\s*$/s);
  await opened.close();
});

it('follows redirects unless told otherwise', async () => {
  const reader: HostFace = {
    routing: (request, response) => {
      if (request.url === '/there') return void response.end(`${request.method} ${request.headers['x-mine']}`);
      response.writeHead(302, { location: '/there' }).end();
    },
  };
  const opened = await openInProcess({ reader } as unknown as HostFaces);
  const init = { method: 'POST', body: 'c', headers: { 'x-mine': 'kept' } };
  expect(await (await opened.fetch(opened.urls.reader, init)).text()).toBe('GET kept');
  expect((await opened.fetch(opened.urls.reader, { ...init, redirect: 'manual' })).status).toBe(302);
  await opened.close();
});

it('uses a socket in a folder that only this user can open', async () => {
  if (process.platform === 'win32') return;
  const reader: HostFace = {
    routing: async (request, response) => {
      const address = (request.socket as unknown as { server: { address(): string } }).server.address();
      const { mode } = await stat(path.dirname(address));
      response.end((mode & 0o777).toString(8));
    },
  };
  const opened = await openInProcess({ reader } as unknown as HostFaces);
  expect(await (await opened.fetch(opened.urls.reader)).text()).toBe('700');
  await opened.close();
});
