/** Kills workers at random moments, and checks that every job completes with each line processed exactly once. */
import type { ChildProcess } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { fakeTokens, fakeVector } from '#models/embed/embed.suite.ts';
import { openS3Blobs } from '#storage/blobs/s3.ts';
import { line, openTestBatch, type TestBatch } from './batch.suite.ts';
import type { Job } from './job.ts';
import { kill, startWorkerProcess, type WorkerOptions } from './worker-process.suite.ts';

export interface KillReport {
  readonly kills: number;
  readonly jobs: number;
  readonly lines: number;
  /** Number of kills that occurred while a job was in progress. */
  readonly duringWork: number;
  readonly lost: number;
  readonly repeated: number;
  /** Number of lines that are out of order or have a wrong result, plus the number of jobs with wrong counts. */
  readonly wrong: number;
}

const WORKERS = 2;
const LINES = 600;
const MAX_PAUSE_MS = 500;
const MAX_START_MS = 30_000;

const textOf = (at: number) => `tea number ${at}`;
/** Texts of a line if there is a bucket: the results of a write are then an object. */
const LARGE_TEXTS = 30;
/** Whether the line with this index is invalid. */
const isBroken = (at: number) => at % 97 === 13;
const inputOf = (texts: number) =>
  Array.from({ length: LINES }, (_, at) =>
    isBroken(at) ? { custom_id: `line ${at}` } : line(`line ${at}`, Array(texts).fill(textOf(at))),
  );

/** Keeps two workers running, and kills one of them `kills` times. */
export async function killWorkers(place: WorkerOptions, kills: number): Promise<KillReport> {
  const { batchMs, bucketOptions, ...shared } = place;
  const bucket = bucketOptions && (await openS3Blobs(bucketOptions));
  const texts = bucket ? LARGE_TEXTS : 1;
  const batchModule = await openTestBatch({ ...shared, bucket, jobs: 0 });
  const workers: ChildProcess[] = [];
  const jobs: Job[] = [];
  let duringWork = 0;
  const statesOf = () => Promise.all(jobs.map(async ({ id }) => (await batchModule.batchModule.find(id))!.state));
  const isWorking = async () => (await statesOf()).includes('processing');
  try {
    for (let at = 0; at < WORKERS; at++) workers.push(await startWorkerProcess(place));
    for (let at = 0; at < kills; at++) {
      const states = await statesOf();
      while (states.filter((state) => state !== 'completed').length < WORKERS) {
        jobs.push(await batchModule.submit(inputOf(texts), { options: { normalized: false } }));
        states.push('pending');
      }
      // A worker that has just started may need seconds before it claims a job.
      const end = performance.now() + MAX_START_MS;
      while (!(await isWorking()) && performance.now() < end) await sleep(20);
      await sleep(Math.random() * MAX_PAUSE_MS);
      if (await isWorking()) duringWork++;
      await kill(workers.shift()!);
      workers.push(await startWorkerProcess(place));
    }
    const found = { lost: 0, repeated: 0, wrong: 0 };
    for (const { id } of jobs) await check(batchModule, await batchModule.ended(id), texts, found);
    return { kills, jobs: jobs.length, lines: jobs.length * LINES, duringWork, ...found };
  } finally {
    await Promise.all(workers.map(kill));
    await batchModule.close();
    bucket?.close();
  }
}

async function check(
  batchModule: TestBatch,
  job: Job,
  texts: number,
  found: { lost: number; repeated: number; wrong: number },
) {
  const output = await batchModule.lines(job, 'output');
  const errors = await batchModule.lines(job, 'errors');
  const seen = new Map<string, number>();
  for (const { custom_id } of [...output, ...errors]) seen.set(custom_id, (seen.get(custom_id) ?? 0) + 1);
  for (let at = 0; at < LINES; at++) if (!seen.has(`line ${at}`)) found.lost++;
  for (const times of seen.values()) found.repeated += times - 1;
  const valid = Array.from({ length: LINES }, (_, at) => at).filter((at) => !isBroken(at));
  for (const [index, at] of valid.entries()) {
    const { custom_id, response } = output[index] ?? {};
    const vector = fakeVector(textOf(at));
    const { data } = response.body;
    const right = custom_id === `line ${at}` && data.length === texts && isSame(data[texts - 1].embedding, vector);
    if (!right) found.wrong++;
  }
  const tokens = valid.reduce((sum, at) => sum + texts * fakeTokens(textOf(at)), 0);
  if (job.tokens !== tokens || job.completed !== valid.length || job.failed !== LINES - valid.length) found.wrong++;
}

const isSame = (one: readonly number[], other: readonly number[]) =>
  one.length === other.length && one.every((value, at) => Math.fround(value) === Math.fround(other[at]!));
