/** `lectern batch` with a server, and `lectern worker` next to one. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { Writable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { batchCommand, progressLine } from '#cli/batch.ts';
import { type ServerProcess, startProcess } from '../support/process.ts';
import { programFile } from '../support/program.ts';
import { quietContext } from '../support/quiet-context.ts';

const LONG_MS = 180_000;
const ROOT = path.resolve(import.meta.dirname, '../..');
let dir: string;
let server: ServerProcess;
let environment: Record<string, string>;

beforeAll(async () => {
  dir = await mkdtemp(path.join(os.tmpdir(), 'batch-'));
  environment = { LECTERN_DATA_DIR: path.join(dir, 'data'), LECTERN_BROWSER: 'none', LECTERN_BATCH_JOBS: '0' };
  server = await startProcess(environment);
}, LONG_MS);
afterAll(async () => {
  await server?.stop();
  await rm(dir, { recursive: true, force: true });
});

/** Runs a command. Returns its result lines, its notes and its progress lines. */
async function run(args: readonly string[], input = '') {
  const printed: string[] = [];
  const noted: string[] = [];
  const rewritten: string[] = [];
  let written = '';
  const output = new Writable({
    write(chunk, _, done) {
      written += chunk;
      done();
    },
  });
  const key = server.lines.join('\n').match(/only this once: (\S+)/)![1]!;
  const command = batchCommand({
    ...quietContext,
    environment: {
      LECTERN_URL: `${server.urlOf('reader')},models=${server.urlOf('model host')}`,
      LECTERN_API_KEY: key,
    },
    print: (text) => void printed.push(text),
    note: (text) => void noted.push(text),
    readInput: async () => input,
    output,
    rewrite: (text) => void rewritten.push(text),
  });
  const failure = await command.parseAsync([...args], { from: 'user' }).then(
    () => undefined,
    (error: Error) => error.message,
  );
  return { printed, noted, rewritten, written, failure };
}

const lines = [
  '{"custom_id":"a","body":{"input":"green tea"}}',
  '',
  'broken',
  '{"custom_id":"b","body":{"input":"x"}}',
];

describe('a job by the command line', { timeout: LONG_MS }, () => {
  it('waits for the worker of another process, which completes it, and is fetched', async () => {
    const file = path.join(dir, 'lines.jsonl');
    await writeFile(file, `${lines.join('\r\n')}\n`);
    const { printed, failure } = await run(['submit', file, '--model', 'lectern-static-v2', '--dimensions', '64']);
    expect(failure).toBeUndefined();
    const [id = ''] = printed;
    expect(id).toMatch(/^batch_/);
    expect((await run(['status', id])).printed.join('\n')).toMatch(/state +pending[\s\S]*0 of 3 lines/);
    expect((await run(['get', id])).failure).toContain('is currently being modified');

    const worker = spawn(process.execPath, [await programFile(), 'worker'], {
      cwd: ROOT,
      env: { ...process.env, ...environment, LECTERN_BATCH_JOBS: '1' },
      stdio: 'ignore',
    });
    const ended = once(worker, 'exit');
    try {
      const waited = await run(['wait', id, '--json']);
      expect(waited.failure).toBeUndefined();
      expect(JSON.parse(waited.printed.join('\n'))).toMatchObject({
        status: 'completed',
        stats: { total: 3, failed: 1 },
      });
      expect(waited.rewritten.at(-2)).toMatch(/100 % {2}3 of 3 lines, 1 failed$/);
    } finally {
      worker.kill('SIGTERM');
    }
    expect(await ended).toEqual([0, null]);
    expect(server.lines.join('\n')).not.toContain('"level":"warn"');

    const output = await run(['get', id]);
    expect(
      output.written
        .split('\n')
        .slice(0, -1)
        .map((line) => JSON.parse(line).custom_id),
    ).toEqual(['a', 'b']);
    await run(['get', id, '--errors', '-o', path.join(dir, 'errors.jsonl')]);
    expect(JSON.parse(await readFile(path.join(dir, 'errors.jsonl'), 'utf8'))).toMatchObject({ line: 2 });
    expect((await run(['list'])).printed.join('\n')).toContain(id);
    expect((await run(['cancel', id])).printed.join('\n')).toContain('completed');
  });

  it('is cancelled, and then waiting for it fails', async () => {
    const { printed } = await run(['submit', '-', '--model', 'lectern-static-v2'], lines.join('\n'));
    expect((await run(['cancel', printed[0]!, '--json'])).printed.join('\n')).toContain('"status": "cancelled"');
    expect((await run(['wait', printed[0]!])).failure).toBe('the job is cancelled');
  });

  it('is refused with the message of the server', async () => {
    expect((await run(['submit', '-', '--model', 'none'], lines[0])).failure).toMatch(/Model none not found/);
    expect((await run(['status', 'batch_1'])).failure).toContain('batch batch_1 not found');
    const many = Array.from({ length: 10_001 }, () => lines[0]).join('\n');
    expect((await run(['submit', '-', '--model', 'lectern-static-v2'], many)).failure).toContain('--url');
    expect((await run(['status', 'a', '--server', 'http://127.0.0.1:1'])).failure).toMatch(/^No response from/);
    const hook = ['--webhook', 'http://10.0.0.1/'];
    expect((await run(['submit', '-', '--model', 'lectern-static-v2', ...hook], lines[0])).failure).toMatch(/webhook/);
  });
});

it.each([
  [{ total: 4, completed: 2, failed: 0, total_tokens: 0 }, '[###############---------------]  50 %  2 of 4 lines'],
  [
    { total: 5_000, completed: 4_998, failed: 1, total_tokens: 0 },
    '[#############################-]  99 %  4,999 of 5,000 lines, 1 failed',
  ],
  [null, 'processing: reading the input'],
])('shows the progress %j', (stats, expected) => {
  expect(progressLine({ status: 'processing', stats })).toBe(expected);
});
