import { setTimeout as sleep } from 'node:timers/promises';
import { createClient } from '@redis/client';
import { afterEach, describe, expect, it } from 'vitest';
import { problem } from '#errors.ts';
import { redisUrl, s3Bucket, startRedis } from '../../../test/support/services.ts';
import type { Blobs } from '../blobs/blobs.ts';
import { openS3Blobs } from '../blobs/s3.ts';
import { openQueueConnection } from './connection.ts';
import { GIVE_BACK, TAKE } from './scripts.ts';
import { openWorkQueue, type RequestOutcome, type WorkQueueOptions } from './server.ts';
import { openWorkServer, type WorkServerOptions } from './worker.ts';

const redis = await redisUrl();
const NEVER = new AbortController().signal;
const TIMES = { renewMs: 50, leaseMs: 1_000, lostMs: 500, keepMs: 5_000 };
/** Other tests may keep the machine busy. */
const SOON = { timeout: 20_000 };
const log = { warn() {}, info() {}, error() {} };

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

async function openServer(given: Partial<WorkQueueOptions> = {}) {
  const outcomes: RequestOutcome[] = [];
  const onRequest = (_: string, outcome: RequestOutcome) => outcomes.push(outcome);
  const options = { url: redis!, kinds: ['sum'], maxWaiting: 3, maxWaitMs: 20_000, log, onRequest, times: TIMES };
  const queue = await openWorkQueue({ ...options, ...given });
  closers.push(() => queue.close());
  const work = queue.work<unknown, unknown>('sum');
  const run = (request: unknown, signal: AbortSignal) => {
    const answer = work.run(request, signal);
    // A test that fails does not wait for its requests.
    answer.catch(() => {});
    return answer;
  };
  return { queue, outcomes, run };
}

async function openWorker(
  handler: (request: unknown, signal: AbortSignal) => Promise<unknown>,
  { slots = 2, ...given }: Partial<WorkServerOptions> & { slots?: number } = {},
) {
  const worker = await openWorkServer({ url: redis!, log, times: TIMES, ...given });
  closers.push(() => worker.close(0));
  await worker.serve([{ kind: 'sum', slots, handler }]);
  return worker;
}

/** The keys of the queue without those that say which processes are running. */
async function keysLeft(): Promise<string[]> {
  const client = createClient({ url: redis! });
  await client.connect();
  const keys = await client.keys('*');
  client.destroy();
  return keys.filter((key) => !/:(?:server:|sum:workers$|sum:wake$)/.test(key));
}

/** Notes the objects that are in the bucket. */
const noting = (blobs: Blobs, objects: Set<string>): Blobs => ({
  ...blobs,
  async put(name, bytes) {
    await blobs.put(name, bytes);
    objects.add(name);
  },
  async remove(name) {
    await blobs.remove(name);
    objects.delete(name);
  },
});

const untilAborted = (_: unknown, signal: AbortSignal) =>
  new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));

/** A worker that takes a request and is then never seen again, like one that was killed. */
async function takeAndVanish(worker: string): Promise<string> {
  const connection = await openQueueConnection(redis!);
  try {
    for (;;) {
      const taken = (await connection.run(TAKE, 'sum', worker, TIMES.leaseMs, TIMES.keepMs)) as [Buffer] | null;
      if (taken) return String(taken[0]);
      await sleep(10);
    }
  } finally {
    connection.close();
  }
}

describe.skipIf(!redis)('requests to workers', () => {
  it('are answered, with every kind of plain data, and leave nothing in Redis', async () => {
    const { run } = await openServer();
    await openWorker(async (request) => request);
    const request = {
      text: 'a\ud800',
      missing: undefined,
      numbers: Float32Array.of(1, 2.5),
      bytes: new Uint8Array([0, 255]),
    };
    expect(await run(request, NEVER)).toEqual(request);
    const answers = await Promise.all(Array.from({ length: 3 }, (_, at) => run(at, NEVER)));
    expect(answers).toEqual([0, 1, 2]);
    await expect.poll(keysLeft, SOON).toEqual([]);
  });

  it('may be large, and then use the bucket if there is one', async () => {
    const bucket = await s3Bucket();
    const s3 = bucket && (await openS3Blobs(bucket));
    closers.push(async () => s3?.close());
    const objects = new Set<string>();
    const large = new Uint8Array(1_000_000).fill(7);
    for (const blobs of [undefined, ...(s3 ? [noting(s3, objects)] : [])]) {
      const { run } = await openServer({ blobs });
      let stored = 0;
      const worker = await openWorker(
        async (request) => {
          stored = objects.size;
          return request;
        },
        { blobs },
      );
      const answer = (await run({ large }, NEVER)) as { large: Uint8Array };
      // Comparing element by element takes seconds.
      expect(Buffer.compare(answer.large, large)).toBe(0);
      expect(stored).toBe(blobs ? 1 : 0);
      await expect.poll(keysLeft, SOON).toEqual([]);
      await expect.poll(() => objects.size, SOON).toBe(0);
      await worker.close(1_000);
    }
  });

  it('fail as the handler failed', async () => {
    const { run, outcomes } = await openServer();
    await openWorker(async (request) => {
      if (request === 'bug') throw new TypeError('secret details');
      throw problem('DownstreamServiceFailureError', { message: 'The file is damaged', path: 'file', retryAfter: 3 });
    });
    await expect(run('file', NEVER)).rejects.toMatchObject({
      ...{ name: 'DownstreamServiceFailureError', message: 'The file is damaged' },
      facts: { path: 'file', retryAfter: 3 },
    });
    await expect(run('bug', NEVER)).rejects.toMatchObject({ name: 'InternalError', message: 'Internal server error' });
    expect(outcomes).toEqual(['failed', 'failed']);
  });

  it('are refused at once if no worker is running or the queue is full', async () => {
    const { run, outcomes, queue } = await openServer();
    await expect(run(1, NEVER)).rejects.toMatchObject({
      ...{ code: 503, facts: { retryAfter: 5 } },
      message: 'No worker for work of the kind sum is running; try again later',
    });
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    await openWorker(() => held.then(() => 'done'), { slots: 1 });
    const first = run(1, NEVER);
    await expect
      .poll(async () => (await queue.counts())[0], SOON)
      .toMatchObject({ running: 1, waiting: 0, workers: 1 });
    const others = [run(2, NEVER), run(3, NEVER), run(4, NEVER)];
    await expect.poll(async () => (await queue.counts())[0], SOON).toMatchObject({ waiting: 3 });
    await expect(run(5, NEVER)).rejects.toMatchObject({
      ...{ code: 503, facts: { retryAfter: 5 } },
      message: 'The queue of work of the kind sum is full; try again later',
    });
    await expect(run({ bytes: new Uint8Array(1_000_000) }, NEVER)).rejects.toThrow('is full');
    release();
    expect(await Promise.all([first, ...others])).toEqual(['done', 'done', 'done', 'done']);
    expect(outcomes.filter((outcome) => outcome === 'refused')).toHaveLength(3);
  });

  it('are refused if no worker becomes free in time', async () => {
    const { run } = await openServer({ maxWaitMs: 200 });
    let ended = false;
    await openWorker(
      (_, signal) =>
        new Promise((resolve) =>
          signal.addEventListener('abort', () => {
            ended = true;
            resolve(undefined);
          }),
        ),
      { slots: 1 },
    );
    const leave = new AbortController();
    const first = run(1, leave.signal);
    await expect(run(2, NEVER)).rejects.toThrow('became free in time');
    expect(ended).toBe(false);
    leave.abort(new Error('left'));
    await expect(first).rejects.toThrow('left');
  });

  it('are cancelled in the queue and at the worker when their caller leaves', async () => {
    const { run, outcomes } = await openServer();
    const seen: unknown[] = [];
    const ended: unknown[] = [];
    await openWorker(
      (request, signal) => {
        seen.push(request);
        return new Promise((_, reject) =>
          signal.addEventListener('abort', () => {
            ended.push(request);
            reject(signal.reason);
          }),
        );
      },
      { slots: 1 },
    );
    const [one, two] = [new AbortController(), new AbortController()];
    const running = run('running', one.signal);
    await expect.poll(() => seen, SOON).toEqual(['running']);
    const waiting = run('waiting', two.signal);
    two.abort(new Error('left the queue'));
    await expect(waiting).rejects.toThrow('left the queue');
    one.abort(new Error('left'));
    await expect(running).rejects.toThrow('left');
    await expect.poll(() => ended, SOON).toEqual(['running']);
    await expect.poll(keysLeft, SOON).toEqual([]);
    expect(seen).toEqual(['running']);
    expect(outcomes).toEqual(['cancelled', 'cancelled']);
  });

  it('are dropped by the worker if their server ends', async () => {
    const { run, queue } = await openServer();
    let started = false;
    let ended = false;
    await openWorker((_, signal) => {
      started = true;
      return new Promise((_resolve, reject) =>
        signal.addEventListener('abort', () => {
          ended = true;
          reject(signal.reason);
        }),
      );
    });
    const lost = run(1, NEVER);
    await expect.poll(() => started, SOON).toBe(true);
    await queue.close();
    await expect(lost).rejects.toMatchObject({ code: 503 });
    await expect.poll(() => ended, SOON).toBe(true);
  });

  it('go to another worker once if a worker is killed, and then fail', async () => {
    const { run } = await openServer();
    // Requests are accepted because this worker is running, but it has no free slot.
    const busy = await openWorker(untilAborted, { slots: 1 });
    const blocker = new AbortController();
    void run('blocks the worker', blocker.signal);
    await expect.poll(async () => (await busy.counts())[0], SOON).toMatchObject({ running: 1 });

    const twice = run('killed twice', NEVER);
    const id = await takeAndVanish('first');
    expect(await takeAndVanish('second')).toBe(id);
    await expect(twice).rejects.toMatchObject({
      code: 503,
      message: 'Two workers ended while they processed this request; try again later',
    });

    const once = run('killed once', NEVER);
    await takeAndVanish('third');
    await openWorker(async (request) => `${request}, then done`);
    expect(await once).toBe('killed once, then done');
    blocker.abort();
  });

  it('are finished by a worker that drains, or returned to the queue after its time', async () => {
    const { run } = await openServer();
    let finish = () => {};
    const held = new Promise<void>((resolve) => {
      finish = resolve;
    });
    let started = 0;
    const first = await openWorker(async () => {
      started++;
      await held;
      return 'first';
    });
    const answer = run(1, NEVER);
    await expect.poll(() => started, SOON).toBe(1);
    const second = await openWorker((request, signal) => {
      started++;
      return untilAborted(request, signal);
    });
    const closing = first.close(10_000);
    const other = run(2, NEVER);
    await expect.poll(() => started, SOON).toBe(2);
    finish();
    expect(await answer).toBe('first');
    await closing;
    await openWorker(async () => 'third', { slots: 5 });
    await second.close(50);
    expect(await other).toBe('third');
  });

  it('belong to one worker: another one can neither answer nor return them', async () => {
    const { run } = await openServer();
    await openWorker(async (request) => request, { slots: 1 });
    const connection = await openQueueConnection(redis!);
    closers.push(async () => connection.close());
    expect(await connection.run(GIVE_BACK, 'no-such-request', 'nobody')).toBe(0);
    expect(await run(1, NEVER)).toBe(1);
  });
});

it('fail with 503 while Redis is away, and are answered again afterwards', { timeout: 60_000 }, async ({ skip }) => {
  const service = await startRedis();
  if (!service) return skip();
  closers.push(() => service.close());
  const { run, queue } = await openServer({ url: service.url });
  let started = false;
  const worker = await openWorker(
    (request, signal) => {
      if (request !== 'slow') return Promise.resolve(request);
      started = true;
      return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    },
    { url: service.url },
  );
  expect(await run(1, NEVER)).toBe(1);
  const interrupted = run('slow', NEVER);
  await expect.poll(() => started, SOON).toBe(true);
  await service.kill();
  await expect(interrupted).rejects.toMatchObject({ code: 503, facts: { retryAfter: expect.any(Number) } });
  await expect(run(2, NEVER)).rejects.toMatchObject({ name: 'ServiceAwayError', facts: { retryAfter: 2 } });
  expect(queue.healthy).toBe(false);
  await service.start();
  await expect.poll(() => queue.healthy && worker.healthy, { timeout: 20_000 }).toBe(true);
  await expect.poll(() => run(3, NEVER).catch(() => undefined), { timeout: 20_000 }).toBe(3);

  // Redis loses the request, because it writes nothing to disk here.
  started = false;
  const lost = run('slow', NEVER);
  await expect.poll(() => started, SOON).toBe(true);
  await service.kill();
  await service.start();
  await expect(lost).rejects.toMatchObject({ code: 503 });
});
