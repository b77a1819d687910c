import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { Writable } from 'node:stream';
import pino from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ProblemName, problem } from '#errors.ts';
import { createServer, type Face } from './server.ts';

let temporaryDir: string;
let face: Face;
const lines: Record<string, unknown>[] = [];

beforeAll(async () => {
  temporaryDir = await mkdtemp(path.join(os.tmpdir(), 'http-server-'));
  const sink = new Writable({
    write(line, _, done) {
      lines.push(JSON.parse(String(line)));
      done();
    },
  });
  face = await createServer({
    name: 'test',
    log: pino({ base: null }, sink),
    maxBodyBytes: 1_000,
    temporaryDir,
    writeError: ({ code, name }, _, reply) => reply.code(code).send({ name }),
    malformedBody: () => ({}),
  });
  face.get('/fails/:name', async (request) => {
    throw problem((request.params as { name: ProblemName }).name);
  });
  face.get('/away', async () => {
    throw problem('ServiceAwayError', { retryAfter: 2 }, new Error('connection refused'));
  });
});

afterAll(async () => {
  await face.close();
  await rm(temporaryDir, { recursive: true, force: true });
});

const failureLines = (name: ProblemName) => linesAfter(`/fails/${name}`);

async function linesAfter(url: string) {
  lines.length = 0;
  await face.inject(url);
  return lines.filter(({ level }) => (level as number) > 30);
}

describe('the log of a failure', () => {
  it('is a warning without a stack for a timeout', async () => {
    const logged = await failureLines('ServiceTimeoutError');
    expect(logged).toEqual([expect.objectContaining({ level: 40, route: '/fails/:name' })]);
    expect(JSON.stringify(logged)).not.toContain('stack');
  });

  it('has a stack for an internal error, and is empty for an error of the caller', async () => {
    expect(await failureLines('InternalError')).toEqual([
      expect.objectContaining({ level: 50, err: expect.objectContaining({ stack: expect.any(String) }) }),
    ]);
    expect(await failureLines('ServiceAwayError')).toEqual([]);
    expect(await failureLines('ParamValidationError')).toEqual([]);
  });

  it('names what failed in a service that is away, and does not repeat it for each request', async () => {
    expect(await linesAfter('/away')).toEqual([
      expect.objectContaining({
        level: 40,
        route: '/away',
        err: expect.objectContaining({ message: 'connection refused' }),
      }),
    ]);
    expect(await linesAfter('/away')).toEqual([]);
  });
});
