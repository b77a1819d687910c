// Full run only: starts executor processes.
import { PassThrough } from 'node:stream';
import { expect, it } from 'vitest';
import { createRecordingLog } from './executors.suite.ts';
import { forwardOutput } from './output.ts';

function open() {
  const streams = { stdout: new PassThrough(), stderr: new PassThrough(), log: new PassThrough() };
  const { log, lines } = createRecordingLog();
  return { ...streams, lines, output: forwardOutput(streams, 'a/rep-0', log) };
}

async function ended({ stdout, stderr, log, output }: ReturnType<typeof open>): Promise<void> {
  for (const stream of [stdout, stderr, log]) stream.end();
  await output.ended;
}

it('logs whole lines under the name of the executor', async () => {
  const opened = open();
  const bytes = Buffer.from('erste Zeile\nzweite Zeile: ü\n\nno end');
  for (let at = 0; at < bytes.length; at += 3) opened.stdout.write(bytes.subarray(at, at + 3));
  opened.stderr.write('a warning\n');
  opened.log.write('{"level":"error","time":"x","executor":"another","msg":"mine","password":"p","n":1}\n');
  opened.log.write('not JSON\n{"level":"nothing"}\n');
  await ended(opened);
  const told = opened.lines().map(({ time: _, ...line }) => line);
  expect(told.filter(({ stream }) => stream === 'stdout').map(({ msg }) => msg)).toEqual([
    'erste Zeile',
    'zweite Zeile: ü',
    'no end',
  ]);
  expect(told).toContainEqual({ level: 'warn', executor: 'a/rep-0', stream: 'stderr', msg: 'a warning' });
  expect(told).toContainEqual({ level: 'error', executor: 'a/rep-0', msg: 'mine', password: '[secret]', n: 1 });
  expect(told).toContainEqual({ level: 'warn', executor: 'a/rep-0', msg: 'not JSON' });
  expect(told).toContainEqual({ level: 'warn', executor: 'a/rep-0', msg: '{"level":"nothing"}' });
  expect(opened.output.lastErrors()).toBe('a warning\n');
});

it('truncates an endless line and reports dropped lines', async () => {
  const opened = open();
  opened.stdout.write('x'.repeat(20_000));
  opened.stdout.write(`${'y'.repeat(20_000)}\n`);
  opened.stderr.write('short\n'.repeat(5000));
  const counted = () => opened.lines().find(({ msg }) => String(msg).includes('dropped the others'));
  await expect.poll(counted, { timeout: 20_000 }).toMatchObject({ level: 'warn', executor: 'a/rep-0', lines: 4501 });
  expect(opened.lines().filter(({ stream }) => stream === 'stderr').length).toBeLessThanOrEqual(500);
  const [cut] = opened.lines().filter(({ stream }) => stream === 'stdout');
  expect(String(cut!.msg)).toMatch(/^x{16384}…$/);
  await ended(opened);
});

it('throttles a stream that writes without end', async () => {
  const opened = open();
  let taken = 0;
  opened.stdout.on('data', (chunk: Buffer) => {
    taken += chunk.length;
  });
  const chunk = Buffer.from(`${'z'.repeat(65_535)}\n`);
  for (let at = 0; at < 20; at++) opened.stdout.write(chunk);
  await expect.poll(() => opened.stdout.isPaused(), { timeout: 20_000 }).toBe(true);
  expect(taken).toBeLessThan(20 * chunk.length);
  // The rest is read in the next windows.
  await expect.poll(() => taken, { timeout: 30_000 }).toBe(20 * chunk.length);
  await ended(opened);
});
