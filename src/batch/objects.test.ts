/** Large pieces in a bucket of a real S3 store, next to a real PostgreSQL database. */
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { FakeOptions } from '#models/embed/embed.suite.ts';
import type { Blobs } from '#storage/blobs/blobs.ts';
import { openS3Blobs } from '#storage/blobs/s3.ts';
import type { BucketOptions } from '#storage/blobs/s3-objects.ts';
import { postgresUrl, type S3Service, s3Bucket, startS3 } from '../../test/support/services.ts';
import { line, openTestBatch, type TestBatch } from './batch.suite.ts';
import { openTestBucket, type TestBucket } from './bucket.suite.ts';
import type { Job } from './job.ts';
import { OBJECT_BYTES, PIECE_BYTES } from './objects.ts';
import type { BatchModuleOptions } from './open.ts';
import { kill, startWorkerProcess } from './worker-process.suite.ts';

const none = !(await postgresUrl()) || !(await s3Bucket());
const LONG_MS = 180_000;
const MINUTE_MS = 60_000;
const KEEP_MS = 24 * 60 * MINUTE_MS;
/** The results of a run of 64 lines are larger than `OBJECT_BYTES`, and the input is larger than a piece. */
const LINES = 300;
const TEXTS = 40;
const inputOf = (lines = LINES) =>
  Array.from({ length: lines }, (_, at) =>
    line(
      `line ${at}`,
      Array.from({ length: TEXTS }, (_, text) => `green tea number ${text} of line ${at}`),
    ),
  );
const idsOf = (lines: readonly { custom_id: string }[]) => lines.map(({ custom_id }) => custom_id);
const IDS = Array.from({ length: LINES }, (_, at) => `line ${at}`);

describe.skipIf(none)('with a bucket', { timeout: LONG_MS }, () => {
  let dir: string;
  let databaseUrl: string;
  let bucketOptions: BucketOptions;
  let bucket: TestBucket;
  let clockMs: number;
  const closing: (() => Promise<void> | void)[] = [];

  async function prepare(options: BucketOptions): Promise<void> {
    bucketOptions = options;
    bucket = await openTestBucket(options, databaseUrl);
    const { close } = bucket;
    closing.push(close);
  }
  beforeEach(async () => {
    dir = mkdtempSync(path.join(os.tmpdir(), 'batch-'));
    databaseUrl = (await postgresUrl())!;
    clockMs = 0;
  });
  afterEach(async () => {
    for (const close of closing.splice(0).toReversed()) await close();
    rmSync(dir, { recursive: true, force: true });
  });
  /** A server with a connection of its own to the bucket. */
  async function open(options: Partial<BatchModuleOptions> = {}, fake: FakeOptions = {}): Promise<TestBatch> {
    const blobs = await openS3Blobs(bucketOptions);
    const now = () => Date.now() + clockMs;
    const opened = await openTestBatch(
      { dataDir: dir, databaseUrl, bucket: blobs, keepMs: KEEP_MS, leaseMs: 500, now, ...options },
      fake,
    );
    closing.push(() => blobs.close());
    closing.push(() => opened.close());
    return opened;
  }
  const openIdle = (options: Partial<BatchModuleOptions> = {}) => open({ jobs: 0, ...options });
  const expectNothingLeft = async () => {
    await expect.poll(() => bucket.names(), { timeout: LONG_MS }).toEqual([]);
    await expect.poll(() => bucket.listed(), { timeout: LONG_MS }).toEqual([]);
  };
  const file = (content: Uint8Array) =>
    ({ owner: 'me', name: 'lines.jsonl', purpose: 'batch', content, keepMs: KEEP_MS }) as const;
  async function contentOf(parts: AsyncIterable<Uint8Array>): Promise<Buffer> {
    const all: Uint8Array[] = [];
    for await (const part of parts) all.push(part);
    return Buffer.concat(all);
  }

  describe('that answers', () => {
    beforeEach(async () => prepare((await s3Bucket())!));

    it('keeps large pieces there, which every server reads', async () => {
      const first = await openIdle();
      const job = await first.submit(inputOf());
      expect((await bucket.piecesOf(job.id, 'input')).some(({ object }) => object !== null)).toBe(true);
      // A second server, which runs the job.
      await open();
      const third = await openIdle();
      const done = await third.ended(job.id);
      expect(done).toMatchObject({ state: 'completed', completed: LINES, failed: 0 });
      const output = await first.lines(done, 'output');
      expect(idsOf(output)).toEqual(IDS);
      expect(output.every(({ response }) => response.body.data.length === TEXTS)).toBe(true);
      expect(await third.lines(done, 'output')).toEqual(output);
      // On a busy machine, results are written more often, in pieces that may all be small.
      const pieces = await bucket.piecesOf(job.id, 'output');
      for (const { bytes, object, length } of pieces) {
        if (object === null) expect([bytes.length > OBJECT_BYTES, length]).toEqual([false, null]);
        else expect([bytes.length, length! > OBJECT_BYTES, length! <= PIECE_BYTES]).toEqual([0, true, true]);
      }
      // The input is being removed.
      const isConsistent = async () =>
        (await bucket.listed()).length === 0 && isDeepStrictEqual(await bucket.names(), await bucket.referred());
      await expect.poll(isConsistent, { timeout: LONG_MS }).toBe(true);
    });

    it('removes the input when a job ends, and everything when it expires', async () => {
      const { submit, ended, lines, batchModule } = await open({ leaseMs: 100 });
      const done = await ended((await submit(inputOf())).id);
      await expect.poll(() => bucket.piecesOf(done.id, 'input'), { timeout: LONG_MS }).toEqual([]);
      await expect.poll(() => bucket.listed(), { timeout: LONG_MS }).toEqual([]);
      expect(await bucket.names()).toEqual(await bucket.referred());
      expect(await lines(done, 'output')).toHaveLength(LINES);
      clockMs += KEEP_MS;
      expect(await batchModule.find(done.id)).toMatchObject({ state: 'expired' });
      await expectNothingLeft();
    });

    it('does not share objects between jobs with the same content', async () => {
      const idle = await openIdle({ leaseMs: 100 });
      const first = await idle.submit(inputOf());
      clockMs += MINUTE_MS;
      const second = await idle.submit(inputOf());
      expect(new Set(await bucket.referred()).size).toBe((await bucket.referred()).length);
      clockMs += KEEP_MS - MINUTE_MS;
      expect(await idle.batchModule.find(first.id)).toMatchObject({ state: 'expired' });
      await expect.poll(() => bucket.piecesOf(first.id, 'input'), { timeout: LONG_MS }).toEqual([]);
      await expect.poll(() => bucket.listed(), { timeout: LONG_MS }).toEqual([]);
      const { ended, lines } = await open();
      const done = await ended(second.id);
      expect(done).toMatchObject({ state: 'completed', completed: LINES });
      expect(idsOf(await lines(done, 'output'))).toEqual(IDS);
    });

    it('keeps uploaded files there until they are deleted or expire', async () => {
      const { batchModule, submit, ended, lines } = await open({ leaseMs: 100 });
      const { files } = batchModule;
      const content = Buffer.from(
        inputOf()
          .map((each) => JSON.stringify(each))
          .join('\n'),
      );
      const uploaded = await files.add(file(content));
      const small = await files.add(file(Buffer.from('tea')));
      const names = await bucket.names();
      expect(names).toHaveLength(Math.ceil(content.length / PIECE_BYTES));
      expect(await bucket.referred()).toEqual(names);
      expect((await contentOf(files.read(uploaded))).equals(content)).toBe(true);
      expect((await contentOf(files.read(small))).toString()).toBe('tea');
      // A job whose input is the file.
      const done = await ended((await submit(uploaded as never)).id);
      expect(idsOf(await lines(done, 'output'))).toEqual(IDS);
      const other = await files.add(file(content));
      await files.remove(uploaded.id);
      expect((await contentOf(files.read(other))).equals(content)).toBe(true);
      clockMs += KEEP_MS;
      await batchModule.find(done.id);
      await expectNothingLeft();
    });

    it('removes the objects of a file that is refused', async () => {
      const { batchModule } = await openIdle({ leaseMs: 100 });
      await bucket.db
        .insertInto('batch_files')
        .values({
          ...{ id: 'file-full', owner: 'me', name: '', purpose: 'batch', media_type: null, secret: '' },
          ...{ bytes: 1_000_000_000, created_at: 0, expires_at: Number.MAX_SAFE_INTEGER },
        })
        .execute();
      await expect(batchModule.files.add(file(Buffer.alloc(PIECE_BYTES)))).rejects.toThrow('at most');
      await expectNothingLeft();
    });

    it('reads pieces that were written without a bucket', async () => {
      const before = await open({ bucket: undefined });
      const done = await before.ended((await before.submit(inputOf())).id);
      const output = await before.lines(done, 'output');
      const uploaded = await before.batchModule.files.add(file(Buffer.alloc(PIECE_BYTES * 2, 'tea')));
      expect(await bucket.names()).toEqual([]);
      const after = await openIdle();
      expect(await after.lines(done, 'output')).toEqual(output);
      expect(await contentOf(after.batchModule.files.read(uploaded))).toHaveLength(PIECE_BYTES * 2);
    });

    it('is required to read its objects', async () => {
      const writer = await open();
      const done = await writer.ended((await writer.submit(inputOf())).id);
      const without = await openIdle({ bucket: undefined });
      await expect(without.lines(done, 'output')).rejects.toMatchObject({
        name: 'BlobsUnavailableError',
        message: expect.stringContaining('LECTERN_BLOBS_URL'),
      });
    });

    it('names the job whose object is missing or damaged, and never returns less', async () => {
      const { submit, ended, lines, batchModule } = await open();
      const done = await ended((await submit(inputOf())).id);
      const [piece] = (await bucket.piecesOf(done.id, 'output')).filter(({ object }) => object !== null);
      const { object, start, length } = piece!;
      const message = `The output of batch job ${done.id} is incomplete: bytes ${start} to ${start + length! - 1}`;
      const failure = { name: 'DownstreamServiceError', message: expect.stringContaining(message) };
      const damages = [Buffer.from(''), Buffer.from('{}\n'), Buffer.alloc(length! + 16, 'x')];
      for (const damage of damages) {
        await bucket.damage(object!, damage);
        await expect(lines(done, 'output')).rejects.toMatchObject(failure);
      }
      await bucket.remove(object!);
      await expect(lines(done, 'output')).rejects.toMatchObject(failure);
      const uploaded = await batchModule.files.add(file(Buffer.alloc(PIECE_BYTES)));
      const { object: ofFile } = await bucket.db
        .selectFrom('batch_file_pieces')
        .select('object')
        .where('file_id', '=', uploaded.id)
        .executeTakeFirstOrThrow();
      await bucket.remove(ofFile!);
      await expect(contentOf(batchModule.files.read(uploaded))).rejects.toThrow(
        `The file ${uploaded.id} is incomplete`,
      );
    });

    it('fails a job whose input is missing, and names it', async () => {
      const idle = await openIdle();
      const job = await idle.submit(inputOf());
      const [piece] = await bucket.piecesOf(job.id, 'input');
      await bucket.remove(piece!.object!);
      const { ended } = await open({ pauseMs: 0 });
      expect(await ended(job.id)).toMatchObject({
        state: 'failed',
        completed: 0,
        error: expect.stringContaining(`The input of batch job ${job.id} is incomplete: bytes 0 to`),
      });
    });

    it('removes the object of a worker that was killed before it wrote the row', async () => {
      const idle = await openIdle({ leaseMs: 100 });
      const job = await idle.submit(inputOf());
      const input = await bucket.names();
      const worker = await startWorkerProcess({
        ...{ dataDir: dir, databaseUrl, bucketOptions },
        ...{ diesAfterObject: true, batchMs: 0 },
      });
      if (worker.exitCode === null && worker.signalCode === null) await once(worker, 'exit');
      expect(worker.signalCode).toBe('SIGKILL');
      const left = (await bucket.names()).filter((name) => !input.includes(name));
      expect(left.length).toBeGreaterThan(0);
      expect(await bucket.piecesOf(job.id, 'output')).toEqual([]);
      expect(await bucket.listed()).toEqual(expect.arrayContaining(left));
      // Another worker does the same lines again, and no line is repeated in the results.
      const worked = await startWorkerProcess({ dataDir: dir, databaseUrl, bucketOptions, batchMs: 0 });
      const done = await idle.ended(job.id);
      await kill(worked);
      expect(idsOf(await idle.lines(done, 'output'))).toEqual(IDS);
      // Not before a write would have ended.
      expect(await bucket.names()).toEqual(expect.arrayContaining(left));
      clockMs += 15 * MINUTE_MS;
      await expect.poll(() => bucket.names(), { timeout: LONG_MS }).not.toEqual(expect.arrayContaining(left));
      await expect.poll(() => bucket.listed(), { timeout: LONG_MS }).toEqual([]);
      expect(await bucket.names()).toEqual(await bucket.referred());
      expect(idsOf(await idle.lines(done, 'output'))).toEqual(IDS);
    });

    it('writes no row for an object that was removed because the write took too long', async () => {
      const blobs = await openS3Blobs(bucketOptions);
      closing.push(() => blobs.close());
      let held: string | undefined;
      const slow: Blobs = {
        ...blobs,
        async put(name, bytes) {
          await blobs.put(name, bytes);
          held ??= name;
          clockMs += 16 * MINUTE_MS;
          await expect.poll(() => bucket.names(), { timeout: LONG_MS }).not.toContain(name);
        },
      };
      await openIdle({ leaseMs: 100 });
      const { batchModule } = await openIdle({ bucket: slow });
      const adding = batchModule.files.add(file(Buffer.alloc(PIECE_BYTES)));
      await expect(adding).rejects.toMatchObject({ name: 'BlobsUnavailableError' });
      expect(held).toBeDefined();
      expect(await batchModule.files.list('me', { limit: 10, order: 'asc' })).toEqual([]);
      await expectNothingLeft();
    });
  });

  describe('that fails', () => {
    let service: S3Service;
    let buckets = 0;
    beforeAll(async () => {
      service = (await startS3())!;
    }, LONG_MS);
    afterAll(() => service?.close());
    beforeEach(async () => prepare(await service.makeBucket(`tea${buckets++}`)));
    afterEach(() => service.start());

    const away = { name: 'BlobsUnavailableError' };

    it('refuses new jobs and files while it is away, and leaves nothing', async () => {
      const { submit, batchModule } = await openIdle({ leaseMs: 100 });
      await service.kill();
      await expect(submit(inputOf())).rejects.toMatchObject(away);
      await expect(batchModule.files.add(file(Buffer.alloc(PIECE_BYTES)))).rejects.toMatchObject(away);
      // A small job needs no bucket.
      await submit([line('a', 'tea')]);
      expect(await batchModule.list('me', 10)).toHaveLength(1);
      expect(await batchModule.files.list('me', { limit: 10, order: 'asc' })).toEqual([]);
      await service.start();
      clockMs += 16 * MINUTE_MS;
      await expectNothingLeft();
      await expect.poll(() => submit(inputOf()).catch(() => undefined), { timeout: LONG_MS }).toBeDefined();
    });

    it('makes a running job wait, which then has each line once', async () => {
      const { submit, ended, lines, batchModule } = await open({ pauseMs: 100 }, { batchMs: 2 });
      const job = await submit(inputOf());
      const show = async (): Promise<Job> => (await batchModule.find(job.id))!;
      await expect.poll(async () => (await show()).completed, { timeout: LONG_MS }).toBeGreaterThan(0);
      await service.kill();
      // More failed runs than a job may have for another reason.
      await expect
        .poll(() => bucket.db.selectFrom('batch_jobs').select('tries').where('id', '=', job.id).executeTakeFirst(), {
          timeout: LONG_MS,
        })
        .toMatchObject({ tries: expect.toSatisfy((tries: number) => tries > 5) });
      const waiting = await show();
      expect(waiting.state).toBe('processing');
      expect(waiting.completed).toBeLessThan(LINES);
      await service.start();
      const end = await ended(job.id);
      expect(end).toMatchObject({ state: 'completed', completed: LINES, failed: 0 });
      expect(idsOf(await lines(end, 'output'))).toEqual(IDS);
    });

    it('removes later what it could not remove while it was away', async () => {
      const { submit, ended, batchModule } = await open({ leaseMs: 100 });
      const done = await ended((await submit(inputOf())).id);
      await service.kill();
      clockMs += KEEP_MS;
      await batchModule.find(done.id);
      await expect.poll(() => bucket.piecesOf(done.id, 'output'), { timeout: LONG_MS }).toEqual([]);
      expect((await bucket.listed()).length).toBeGreaterThan(0);
      await service.start();
      clockMs += 2 * MINUTE_MS;
      await expectNothingLeft();
    });

    it('reports that results cannot be read', async () => {
      const { submit, ended, lines } = await open();
      const done = await ended((await submit(inputOf())).id);
      await service.kill();
      await expect(lines(done, 'output')).rejects.toMatchObject(away);
      await service.start();
      await expect.poll(() => lines(done, 'output').catch(() => []), { timeout: LONG_MS }).toHaveLength(LINES);
    });
  });
});
