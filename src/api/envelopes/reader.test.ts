import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { PROBLEMS, type ProblemName, problem } from '#errors.ts';
import { createServer, type Face } from '#http/server.ts';
import { createLog } from '#telemetry/log.ts';
import { errorBody, writeReaderError } from './reader.ts';

let face: Face;
const temporaryDir = mkdtempSync(path.join(os.tmpdir(), 'lectern-envelope-'));
beforeAll(async () => {
  face = await createServer({
    name: 'test',
    log: createLog('silent'),
    maxBodyBytes: 1000,
    temporaryDir,
    writeError: writeReaderError,
    malformedBody: errorBody,
  });
  face.get<{ Params: { name: ProblemName } }>('/problem/:name', ({ params: { name } }) => {
    throw problem(name, { path: 'url', retryAfter: 7, extra: { deep: true } });
  });
  face.get('/fault', () => {
    throw new TypeError('secret: /home/somebody/file.ts at 10.0.0.1');
  });
});
afterAll(async () => {
  await face.close();
  rmSync(temporaryDir, { recursive: true });
});

const NAMES = Object.keys(PROBLEMS) as ProblemName[];

it.each(NAMES)('%s in JSON, text and as an event', async (name) => {
  const { code, status, message } = PROBLEMS[name];
  const ask = (accept: string) => face.inject({ url: `/problem/${name}`, headers: { accept } });
  const json = await ask('application/json');
  expect(json.statusCode).toBe(code);
  expect(json.headers['retry-after']).toBe('7');
  const body = json.json();
  expect(Object.keys(body)).toEqual(
    'data path retryAfter extra retryAfterDate code name status message readableMessage'.split(' '),
  );
  expect(body).toMatchObject({ data: null, path: 'url', code, name, status, message, extra: { deep: true } });
  expect(body.readableMessage).toBe(`${name}(url): ${message}`);
  const text = await ask('text/plain');
  expect([text.statusCode, text.body]).toEqual([code, `${body.readableMessage}\n`]);
  const event = await ask('text/event-stream');
  expect([event.statusCode, event.body]).toEqual([
    code,
    `event: error\ndata: ${JSON.stringify(body.readableMessage)}\n\n`,
  ]);
});

it('does not reveal the cause of an internal error', async () => {
  const answer = await face.inject({ url: '/fault' });
  expect(answer.json()).toMatchObject({ code: 500, status: 50000, name: 'InternalError' });
  expect(answer.body).not.toMatch(/secret|home|10\.0/);
});
