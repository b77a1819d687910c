/** Tests whole jobs in either database, with test models and loopback servers. */
import { createHmac } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import type { IncomingHttpHeaders } from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { problem } from '#errors.ts';
import { type FakeOptions, fakeVector } from '#models/embed/embed.suite.ts';
import { postgresUrl } from '../../test/support/services.ts';
import { line, openTestBatch, serve, type TestBatch } from './batch.suite.ts';
import type { BatchModuleOptions } from './open.ts';

const url = await postgresUrl();
const LONG_MS = 120_000;
/** Failed runs are retried immediately instead of at the next poll of the table. */
const NO_PAUSE = { pauseMs: 0 };
/** Longer than all webhook attempts together, in milliseconds. */
const WEBHOOK_MS = 400;

describe.each(['sqlite', 'postgres'] as const)('%s', (dialect) => {
  describe.skipIf(dialect === 'postgres' && !url)('a job', { timeout: LONG_MS }, () => {
    let dir: string;
    let databaseUrl: string | undefined;
    const closing: (() => Promise<void>)[] = [];
    beforeEach(async () => {
      dir = mkdtempSync(path.join(os.tmpdir(), 'batch-'));
      databaseUrl = dialect === 'postgres' ? await postgresUrl() : undefined;
    });
    afterEach(async () => {
      for (const close of closing.splice(0).toReversed()) await close();
      rmSync(dir, { recursive: true, force: true });
    });
    const open = async (fake: FakeOptions = {}, options: Partial<BatchModuleOptions> = {}): Promise<TestBatch> => {
      const batchModule = await openTestBatch({ dataDir: dir, databaseUrl, ...options }, fake);
      closing.push(() => batchModule.close());
      return batchModule;
    };
    const server = async (answer: Parameters<typeof serve>[0]) => {
      const made = await serve(answer);
      closing.push(made.close);
      return made.url;
    };

    it('gives each line its outcome, in order', async () => {
      const { submit, ended, lines, charged } = await open();
      const job = await submit(
        [
          line('one', 'example', { normalized: false }),
          line('two', ['green tea', { text: 'black tea' }], { dimensions: 4, embedding_type: 'base64' }),
          line('three', 'word '.repeat(40)),
          line('one', 'again'),
          'nothing',
          line('four', 'tea', { dimensions: 5.5 }),
          line('five', 'word '.repeat(40), { truncate: true }),
          line('six', 'tea', { task: 'steeping' }),
        ],
        { options: { task: 'clustering' } },
      );
      expect(job).toMatchObject({ state: 'pending', total: 8, completed: 0, model: 'tea' });
      const done = await ended(job.id);
      expect(done).toMatchObject({ state: 'completed', total: 8, completed: 3, failed: 5, tokens: 3 + 4 + 4 + 32 });
      const output = await lines(done, 'output');
      expect(output.map(({ id, custom_id }) => [id, custom_id])).toEqual([
        ['batch_req_000001', 'one'],
        ['batch_req_000002', 'two'],
        ['batch_req_000007', 'five'],
      ]);
      expect(output[0]).toEqual({
        id: 'batch_req_000001',
        custom_id: 'one',
        response: {
          status_code: 200,
          request_id: expect.stringMatching(/^[0-9a-f]{32}$/),
          body: {
            model: 'tea',
            object: 'list',
            usage: { total_tokens: 3, prompt_tokens: 3 },
            data: [{ object: 'embedding', index: 0, embedding: fakeVector('example') }],
          },
        },
        error: null,
      });
      expect(output[1].response.body.data).toHaveLength(2);
      expect(Buffer.from(output[1].response.body.data[1].embedding, 'base64')).toHaveLength(16);
      const errors = await lines(done, 'errors');
      expect(errors).toMatchObject([
        { id: 'batch_req_000003', custom_id: 'three', line: 3, error: { code: 'TokenLimitExceededError' } },
        {
          line: 4,
          custom_id: 'one',
          error: { code: 'INVALID_LINE', message: expect.stringContaining('earlier line') },
        },
        { line: 5, custom_id: null, response: null, error: { code: 'INVALID_LINE' } },
        { line: 6, custom_id: 'four', error: { code: 'ParamValidationError' } },
        { line: 8, custom_id: 'six', error: { code: 'ParamValidationError' } },
      ]);
      await expect.poll(() => charged.map(({ id, tokens }) => [id, tokens])).toEqual([[job.id, 43]]);
    });

    it('is continued by another server where the first one stopped', async () => {
      const ran: string[] = [];
      const slow = { batchMs: 5, onBatch: (texts: readonly string[]) => void ran.push(...texts) };
      const first = await open(slow);
      const job = await first.submit(Array.from({ length: 600 }, (_, at) => line(`line ${at}`, `tea ${at}`)));
      await expect
        .poll(async () => (await first.batchModule.find(job.id))!.completed, { timeout: LONG_MS })
        .toBeGreaterThan(0);
      await first.close();
      const idle = await open({}, { jobs: 0 });
      const left = (await idle.batchModule.find(job.id))!;
      await idle.close();
      expect(left.completed).toBeLessThan(600);
      const before = ran.length;
      const second = await open(slow);
      const done = await second.ended(job.id);
      expect(done).toMatchObject({ state: 'completed', completed: 600, failed: 0 });
      expect(ran.length - before).toBe(600 - left.completed);
      const output = await second.lines(done, 'output');
      expect(output.map(({ custom_id }) => custom_id)).toEqual(Array.from({ length: 600 }, (_, at) => `line ${at}`));
    });

    it('is cancelled after its running lines', async () => {
      const { batchModule, submit, ended, lines, charged } = await open({ batchMs: 20 });
      const job = await submit(Array.from({ length: 5_000 }, (_, at) => line(`line ${at}`, `tea ${at}`)));
      await expect
        .poll(async () => (await batchModule.find(job.id))!.completed, { timeout: LONG_MS })
        .toBeGreaterThan(0);
      const cancelled = await batchModule.cancel(job);
      expect(cancelled).toMatchObject({ state: 'cancelled', total: 5_000, failed: 0 });
      expect(cancelled.completed).toBeLessThan(5_000);
      const output = await lines(cancelled, 'output');
      expect(output.map(({ custom_id }) => custom_id)).toEqual(
        Array.from({ length: cancelled.completed }, (_, at) => `line ${at}`),
      );
      expect(await ended(job.id)).toEqual(cancelled);
      expect(await batchModule.cancel(cancelled)).toEqual(cancelled);
      await expect.poll(() => charged.map(({ tokens }) => tokens)).toEqual([cancelled.tokens]);
    });

    it('is cancelled while it waits; a cancellation at its end leaves one of both states', async () => {
      const idle = await open({}, { jobs: 0 });
      const waiting = await idle.submit([line('a', 'tea')]);
      expect(await idle.batchModule.cancel(waiting)).toMatchObject({ state: 'cancelled', completed: 0 });
      const { batchModule, submit, ended, lines } = await open();
      for (let at = 0; at < 12; at++) {
        const job = await submit([line('a', 'tea'), line('b', 'tea')]);
        await new Promise((resolve) => setTimeout(resolve, at));
        const done = await batchModule.cancel(job);
        expect(['completed', 'cancelled']).toContain(done.state);
        expect(await ended(job.id)).toEqual(done);
        expect(await lines(done, 'output')).toHaveLength(done.completed);
        if (done.state === 'completed') expect(done.completed).toBe(2);
      }
    });

    it('fails only the line that the model rejects', async () => {
      const { submit, ended, lines } = await open({
        onBatch(texts) {
          if (texts.includes('poison')) throw problem('DownstreamServiceFailureError', { message: 'The model failed' });
        },
      });
      const job = await submit([line('a', 'tea'), line('b', 'poison'), line('c', 'tea')]);
      const done = await ended(job.id);
      expect(done).toMatchObject({ state: 'completed', completed: 2, failed: 1 });
      expect((await lines(done, 'errors'))[0]).toMatchObject({
        custom_id: 'b',
        error: { code: 'DownstreamServiceFailureError' },
      });
    });

    it('waits while the model is busy, and fails when the model is broken', async () => {
      let times = 0;
      const busy = await open(
        {
          onBatch() {
            if (++times < 7) throw problem('ServiceNodeResourceDrainError');
          },
        },
        NO_PAUSE,
      );
      const patient = await busy.submit([line('a', 'tea')]);
      expect(await busy.ended(patient.id)).toMatchObject({ state: 'completed', completed: 1 });
      await busy.close();
      const broken = await open(
        {
          onLoad() {
            throw problem('DownstreamServiceFailureError', { message: 'The model cannot be loaded' });
          },
        },
        NO_PAUSE,
      );
      const hopeless = await broken.submit([line('a', 'tea')]);
      expect(await broken.ended(hopeless.id)).toMatchObject({
        state: 'failed',
        error: 'The model cannot be loaded',
        completed: 0,
        failed: 0,
      });
    });

    it('reads its lines from a URL', async () => {
      const address = await server((_, response) => {
        response.end(
          `\ufeff${JSON.stringify(line('a', 'tea'))}\r\n\r\n  \n{broken\n${JSON.stringify(line('b', 'tea'))}`,
        );
      });
      const { submit, ended, lines } = await open();
      const job = await submit(`${address}/lines.jsonl`);
      expect(job).toMatchObject({ state: 'pending', total: null });
      const done = await ended(job.id);
      expect(done).toMatchObject({ state: 'completed', total: 3, completed: 2, failed: 1 });
      expect(await lines(done, 'errors')).toMatchObject([
        { line: 4, custom_id: null, error: { code: 'INVALID_LINE' } },
      ]);
    });

    it.each([
      ['is not there', 404, 'no', 'responded with status 404'],
      ['has no lines', 200, '\n \n\r\n', 'has no lines'],
      ['has too many lines', 200, 'x\n'.repeat(50_001), 'more than 50000 lines'],
      ['is too large', 200, undefined, 'larger than'],
    ])('fails when its file %s', async (_, status, body, error) => {
      const address = await server((_, response) => {
        response.statusCode = status;
        if (body === undefined) response.setHeader('content-length', 10_000_000_000);
        response.end(body ?? 'x');
      });
      const { submit, ended, batchModule } = await open();
      const done = await ended((await submit(address)).id);
      expect(done).toMatchObject({ state: 'failed', error: expect.stringContaining(error), total: null });
      expect(batchModule.file(done, 'output').bytes).toBe(0);
    });

    it('fails without a connection if its URL is not allowed, also after a redirect', async () => {
      let asked = 0;
      const secret = await serve((_, response) => {
        asked++;
        response.end();
      });
      closing.push(secret.close);
      const inward = secret.url.replace('127.0.0.1', '127.0.0.2');
      const address = await server((_, response) => {
        response.writeHead(302, { location: inward }).end();
      });
      const { submit, ended } = await open();
      for (const target of [inward, address]) {
        const done = await ended((await submit(target)).id);
        expect(done).toMatchObject({
          state: 'failed',
          error: 'input_url cannot be read: Access to this URL is not allowed',
        });
      }
      expect(asked).toBe(0);
    });

    it('retries a file that is temporarily unavailable', async () => {
      let asked = 0;
      const address = await server((_, response) => {
        if (++asked < 3) response.writeHead(503).end();
        else response.end(JSON.stringify(line('a', 'tea')));
      });
      const { submit, ended } = await open({}, NO_PAUSE);
      expect(await ended((await submit(address)).id)).toMatchObject({ state: 'completed', completed: 1 });
      expect(asked).toBe(3);
    });

    it('expires together with its files', async () => {
      let now = Date.now();
      const { batchModule, submit, ended, lines } = await open({}, { now: () => now, keepMs: 60_000 });
      const job = await submit([line('a', 'tea')]);
      const done = await ended(job.id);
      expect(await lines(done, 'output')).toHaveLength(1);
      now += 60_000;
      expect(await batchModule.find(job.id)).toMatchObject({
        state: 'expired',
        completed: 1,
        completedAt: done.completedAt,
      });
      await expect
        .poll(() => lines(done, 'output').catch(({ message }) => message), { timeout: LONG_MS })
        .toContain('removed');
      expect((await batchModule.list('me', 10)).map(({ state }) => state)).toEqual(['expired']);
    });

    it('sends a signed webhook at its end, and retries until one succeeds', async () => {
      const heard: { headers: IncomingHttpHeaders; body: string }[] = [];
      const hook = await server(async (request, response) => {
        heard.push({ headers: request.headers, body: await text(request) });
        response.writeHead(heard.length === 1 ? 500 : 204).end();
      });
      const { batchModule, submit, ended } = await open();
      const job = await submit([line('a', 'tea')], { webhookUrl: `${hook}/done` });
      await ended(job.id);
      await expect.poll(() => heard.length, { timeout: LONG_MS }).toBe(2);
      const secret = batchModule.links.webhookSecret('me');
      for (const { headers, body } of heard) {
        const timestamp = String(headers['x-webhook-timestamp']);
        const signature = createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex');
        expect(headers).toMatchObject({
          'x-batch-id': job.id,
          'x-webhook-signature': `sha256=${signature}`,
          'content-type': 'application/json; charset=utf-8',
        });
        expect(JSON.parse(body)).toMatchObject({ batch_id: job.id, status: 'completed', stats: { completed: 1 } });
        expect(JSON.parse(body).output_url).toMatch(/^http:\/\/models\.example\/v1\/batch\/.*sig=/);
      }
      await new Promise((resolve) => setTimeout(resolve, WEBHOOK_MS));
      expect(heard).toHaveLength(2);
    });

    it('sends no webhook to a URL that is not allowed', async () => {
      let asked = 0;
      const secret = await serve((_, response) => {
        asked++;
        response.end();
      });
      closing.push(secret.close);
      const { submit, ended, charged } = await open();
      const job = await submit([line('a', 'tea')], { webhookUrl: secret.url.replace('127.0.0.1', '127.0.0.2') });
      await ended(job.id);
      await expect.poll(() => charged.length).toBe(1);
      await new Promise((resolve) => setTimeout(resolve, WEBHOOK_MS));
      expect(asked).toBe(0);
    });
  });
});
