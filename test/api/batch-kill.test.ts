/** The server itself is killed while a job is on its way. */

import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { type ServerProcess, startProcess } from '../support/process.ts';

const LINES = 5_000;
const KILLS = 3;

it('a batch of 5,000 lines by curl survives three kills of the server', { timeout: 600_000 }, async () => {
  const dir = await mkdtemp(path.join(os.tmpdir(), 'batch-'));
  const start = () => startProcess({ LECTERN_DATA_DIR: path.join(dir, 'data'), LECTERN_BROWSER: 'none' });
  let server: ServerProcess = await start();
  try {
    const key = server.lines.join('\n').match(/only this once: (\S+)/)![1]!;
    const curl = async (place: string, ...args: string[]) => {
      const url = `${server.urlOf('model host')}${place}`;
      const given = ['-sS', '-H', `Authorization: Bearer ${key}`, url, ...args];
      return (await promisify(execFile)('curl', given, { maxBuffer: 1e9 })).stdout;
    };
    const statsOf = async (id: string) => JSON.parse(await curl(`/v1/batch/${id}`));

    const text = 'Green tea is drunk hot, and sometimes cold, in the morning. '.repeat(20);
    const input = Array.from({ length: LINES }, (_, at) => ({
      custom_id: `doc-${at}`,
      body: { input: Array.from({ length: 4 }, (_, part) => `${at}.${part} ${text}`) },
    }));
    await writeFile(path.join(dir, 'body.json'), JSON.stringify({ model: 'lectern-static-v1', dimensions: 64, input }));
    const { batch_id: id } = JSON.parse(await curl('/v1/batch/embeddings', '-d', `@${path.join(dir, 'body.json')}`));

    let done = 0;
    let inWork = 0;
    for (let kills = 0; kills < KILLS; kills++) {
      const job = await progressed(() => statsOf(id), done);
      done = job.stats.completed;
      if (job.status === 'processing') inWork++;
      const ended = once(server.child, 'exit');
      server.child.kill('SIGKILL');
      await ended;
      server = await start();
      expect((await statsOf(id)).stats.completed).toBeGreaterThanOrEqual(done);
    }
    expect(inWork).toBeGreaterThan(0);
    const job = await progressed(() => statsOf(id), LINES - 1);
    expect(job).toMatchObject({ status: 'completed', stats: { total: LINES, completed: LINES, failed: 0 } });
    const output = (await curl(`/v1/batch/${id}/output`)).split('\n').slice(0, -1);
    expect(output.map((line) => JSON.parse(line).custom_id)).toEqual(input.map(({ custom_id }) => custom_id));
    expect(await curl(`/v1/batch/${id}/errors`)).toBe('');
  } finally {
    await server.stop();
    await rm(dir, { recursive: true, force: true });
  }
});

interface Job {
  readonly status: string;
  readonly stats: { readonly completed: number };
}

/** The job when it has come further, or has ended. */
async function progressed(look: () => Promise<Job>, from: number): Promise<Job> {
  for (;;) {
    const job = await look();
    if (job.stats.completed > from || (job.status !== 'pending' && job.status !== 'processing')) return job;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
