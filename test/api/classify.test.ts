/** Classification over HTTP with the built-in model (docs/reference/wire/models.md, Classification). */
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openClassify } from '#classify/index.ts';
import { plansWith } from '#plans.ts';
import { createLog } from '#telemetry/log.ts';
import { startRealModelHost, type TestModelHost } from '../support/model-host.ts';
import { postgresUrl } from '../support/services.ts';

const MODEL = 'lectern-static-v2';
const LABELS = ['sport', 'cooking', 'politics'];
const SAMPLES = [
  { text: 'The striker scored twice in the second half', label: 'sport' },
  { text: 'The team won the football championship', label: 'sport' },
  { text: 'She broke the marathon record', label: 'sport' },
  { text: 'Simmer the sauce with garlic and tomatoes', label: 'cooking' },
  { text: 'Bake the bread in a hot oven', label: 'cooking' },
  { text: 'Whisk the eggs with sugar and butter', label: 'cooking' },
];
const plans = plansWith({ free: { labels: 3, classifiers: 2 } });
const databases = [
  { name: 'SQLite', url: undefined },
  { name: 'PostgreSQL', url: await postgresUrl() },
];

it('a classifier of a model that was replaced is refused, and the error tells what to do', async () => {
  const dataDir = await mkdtemp(path.join(os.tmpdir(), 'classify-'));
  const start = (modelAliases: Record<string, string>) =>
    startRealModelHost(
      { modelAliases },
      {
        classify: async ({ registry, models }) => ({
          plans,
          classify: await openClassify({ dataDir, databaseUrl: undefined, registry, models, log: createLog('silent') }),
        }),
      },
    );
  // An alias stands for the earlier model, whose files are no longer in the package.
  const before = await start({ 'lectern-static-v1': MODEL });
  const trained = await before.post('/v1/train', { model: 'lectern-static-v1', input: SAMPLES });
  await before.close();
  const after = await start({});
  const asked = { classifier_id: trained.body.classifier_id, input: ['football'] };
  const { status, body } = await after.post('/v1/classify', asked);
  await after.close();
  await rm(dataDir, { recursive: true });
  expect([trained.status, status]).toEqual([200, 409]);
  expect(body.detail).toContain('was trained with lectern-static-v1, which is not available: train a new one');
  expect(body.detail).toContain('was replaced by lectern-static-v2');
});

describe.each(databases)('$name', ({ name, url }) => {
  describe.skipIf(name === 'PostgreSQL' && !url)('classification', () => {
    let dir: string;
    let host: TestModelHost;
    beforeAll(async () => {
      dir = await mkdtemp(path.join(os.tmpdir(), 'classify-'));
      const open = async ({ registry, models }: Pick<Parameters<typeof openClassify>[0], 'registry' | 'models'>) => ({
        plans,
        classify: await openClassify({ dataDir: dir, databaseUrl: url, registry, models, log: createLog('silent') }),
      });
      const accounts = { small: { plan: 'free', balance: null }, other: { plan: 'paid', balance: null } } as const;
      host = await startRealModelHost({}, { classify: open, accounts });
    });
    afterAll(async () => {
      await host.close();
      await rm(dir, { recursive: true, force: true });
    });

    const as = (key: string) => ({ authorization: `Bearer ${key}` });
    const ask = async (method: string, where: string, key = 'test-key') => {
      const answer = await fetch(host.url + where, { method, headers: as(key) });
      return { status: answer.status, body: await answer.json() };
    };
    const train = async (body: object = {}, key = 'test-key') =>
      host.post('/v1/train', { model: MODEL, input: SAMPLES, ...body }, as(key));

    it('without training chooses the closest label', async () => {
      const input = ['The goalkeeper saved the penalty of the football player', { text: 'Chop onions for the soup' }];
      const { status, body } = await host.post('/v1/classify', { model: MODEL, input, labels: LABELS });
      expect(status).toBe(200);
      expect(body.data.map(({ prediction }: { prediction: string }) => prediction)).toEqual(['sport', 'cooking']);
      const [first] = body.data;
      expect(first).toMatchObject({ object: 'classification', index: 0 });
      expect(first.predictions.map(({ label }: { label: string }) => label)).toEqual(LABELS);
      expect(first.score).toBe(first.predictions[0].score);
      expect(first.predictions.reduce((sum: number, one: { score: number }) => sum + one.score, 0)).toBeCloseTo(1);
      expect(body.usage.total_tokens).toBeGreaterThan(10);
      expect(host.charges.at(-1)).toMatchObject({ endpoint: 'embeddings', tokens: body.usage.total_tokens });
      const single = await host.post('/v1/classify', { model: MODEL, input: 'Bake a cake', labels: LABELS });
      expect(single.body.data).toHaveLength(1);
    });

    it('predicts in each group of labels', async () => {
      const labels = { topic: ['football', 'cooking'], tone: ['happy', 'sad'] };
      const { body } = await host.post('/v1/classify', { model: MODEL, input: ['The recipe needs butter'], labels });
      const [{ prediction, score, predictions }] = body.data;
      expect(prediction.topic).toBe('cooking');
      expect(Object.keys(prediction)).toEqual(['topic', 'tone']);
      expect(score.topic).toBe(predictions.topic[1].score);
    });

    it('trains a classifier, uses, extends, lists and deletes it', async () => {
      const { status, body } = await train();
      expect([status, body]).toMatchObject([200, { num_samples: 6, usage: { total_tokens: expect.any(Number) } }]);
      const { classifier_id } = body;
      const classify = (input: unknown, key = 'test-key') =>
        host.post('/v1/classify', { classifier_id, input }, as(key));
      const predicted = await classify(['The cup final ended in a draw', 'Fry the onions in butter']);
      expect(predicted.body.data.map(({ prediction }: { prediction: string }) => prediction)).toEqual([
        'sport',
        'cooking',
      ]);

      const more = [
        { text: 'Parliament passed the new election law', label: 'politics' },
        { text: 'The minister lost the vote of the parliament', label: 'politics' },
      ];
      const extended = await host.post('/v1/train', { classifier_id, input: more });
      expect(extended.body).toMatchObject({ classifier_id, num_samples: 2 });
      const third = await classify('The parliament voted for the law of the minister');
      expect(third.body.data[0].prediction).toBe('politics');

      const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
      const listed = await ask('GET', '/v1/classifiers');
      expect(listed.body).toEqual([
        {
          classifier_id,
          user_id: 'account of test-key',
          model: MODEL,
          labels: ['sport', 'cooking', 'politics'],
          access: 'private',
          updated_number: 1,
          used_number: 2,
          created_at: time,
          updated_at: time,
          used_at: time,
          is_active: true,
          is_latest: true,
          metadata_: { num_samples: 8 },
        },
      ]);
      expect((await ask('POST', '/v1/classifiers')).body).toEqual(listed.body);

      // Other accounts cannot see the classifier.
      expect((await ask('GET', '/v1/classifiers', 'other')).body).toEqual([]);
      expect(await classify('text', 'other')).toMatchObject({ status: 404, body: { code: 'RESOURCE_NOT_FOUND' } });
      expect((await ask('DELETE', `/v1/classifiers/${classifier_id}`, 'other')).status).toBe(404);

      const removed = await ask('DELETE', `/v1/classifiers/${classifier_id}`);
      expect(removed).toEqual({ status: 200, body: { classifier_id, deleted: true } });
      expect((await classify('text')).status).toBe(404);
      expect((await ask('GET', '/v1/classifiers')).body).toEqual([]);
    });

    it('lets other accounts use a public classifier, but not change it', async () => {
      const { body } = await train({ access: 'public' });
      const { classifier_id } = body;
      const used = await host.post('/v1/classify', { classifier_id, input: 'Roast the garlic' }, as('other'));
      expect(used.body.data[0].prediction).toBe('cooking');
      const changed = await host.post('/v1/train', { classifier_id, input: SAMPLES }, as('other'));
      expect(changed.status).toBe(404);
      expect((await ask('DELETE', `/v1/classifiers/${classifier_id}`, 'other')).status).toBe(404);
      expect((await ask('DELETE', `/v1/classifiers/${classifier_id}`)).status).toBe(200);
    });

    it('accepts only one of two trainings at the same time', async () => {
      const { classifier_id } = (await train()).body;
      const further = () => host.post('/v1/train', { classifier_id, input: SAMPLES, num_iters: 100 });
      const answers = await Promise.all([further(), further()]);
      const refused = answers.filter(({ status }) => status !== 200);
      for (const { status, body } of refused) {
        expect([status, body.code]).toEqual([409, 'CONFLICT_RESOURCE_BUSY']);
        expect(body.detail).toBe(`classifier ${classifier_id} is currently being modified`);
      }
      const { body: listed } = await ask('GET', '/v1/classifiers');
      const [{ metadata_ }] = listed as [{ metadata_: { num_samples: number } }];
      expect(metadata_.num_samples).toBe(6 * (1 + answers.length - refused.length));
      await ask('DELETE', `/v1/classifiers/${classifier_id}`);
    });

    it('keeps to the limits of the plan', async () => {
      const labels = ['a', 'b', 'c', 'd'].map((label) => ({ text: `Some words about ${label}`, label }));
      const tooMany = await train({ input: labels }, 'small');
      expect([tooMany.status, tooMany.body]).toMatchObject([
        400,
        { code: 'INPUT_LABEL_LIMIT_EXCEEDED', detail: 'Label count 4 exceeds the plan maximum 3' },
      ]);
      const ids = [(await train({}, 'small')).body.classifier_id, (await train({}, 'small')).body.classifier_id];
      expect(await train({}, 'small')).toMatchObject({ status: 403, body: { code: 'AUTHZ_RESOURCE_LIMIT_EXCEEDED' } });
      for (const id of ids) await ask('DELETE', `/v1/classifiers/${id}`, 'small');
      const list = Array.from({ length: 513 }, (_, at) => `label ${at}`);
      expect(await host.post('/v1/classify', { model: MODEL, input: 'text', labels: list })).toMatchObject({
        status: 400,
        body: { code: 'INPUT_LABEL_LIMIT_EXCEEDED', detail: 'Label count 513 exceeds the plan maximum 512' },
      });
    });

    it.each([
      ['/v1/classify', { input: 'a', labels: LABELS }, 'body -> model'],
      ['/v1/classify', { model: MODEL, labels: LABELS }, 'body -> input'],
      ['/v1/classify', { model: MODEL, input: 'a' }, 'body -> labels'],
      ['/v1/classify', { model: MODEL, input: 'a', labels: 'sport' }, 'body -> labels'],
      ['/v1/classify', { model: MODEL, input: 'a', labels: ['a', 1] }, 'body -> labels -> 1'],
      ['/v1/classify', { model: MODEL, input: 'a', labels: { one: 'a' } }, 'body -> labels -> one'],
      ['/v1/classify', { model: MODEL, input: [], labels: LABELS }, 'body -> input'],
      ['/v1/classify', { model: MODEL, input: [7], labels: LABELS }, 'body -> input -> 0'],
      ['/v1/classify', { classifier_id: 'x', input: 'a', labels: LABELS }, 'body -> labels'],
      ['/v1/train', { input: SAMPLES }, 'body -> model'],
      ['/v1/train', { model: MODEL, input: SAMPLES.slice(0, 1) }, 'body -> input'],
      ['/v1/train', { model: MODEL, input: ['a', 'b'] }, 'body -> input -> 0'],
      ['/v1/train', { model: MODEL, input: [SAMPLES[0], { text: 'a' }] }, 'body -> input -> 1 -> label'],
      ['/v1/train', { model: MODEL, input: [SAMPLES[0], { label: 'a' }] }, 'body -> input -> 1 -> text'],
      ['/v1/train', { model: MODEL, input: SAMPLES, num_iters: 0 }, 'body -> num_iters'],
      ['/v1/train', { model: MODEL, input: SAMPLES, access: 'all' }, 'body -> access'],
    ])('%s refuses %j with the name of the field', async (where, request, field) => {
      const { status, body } = await host.post(where, request);
      expect([status, body.errors?.[0].field]).toEqual([422, field]);
    });

    it.each([
      ['/v1/classify', { model: MODEL, input: 'a', labels: ['one'] }],
      ['/v1/classify', { model: MODEL, input: 'a', labels: ['one', 'one'] }],
      ['/v1/classify', { model: MODEL, input: 'a', labels: ['one', ' '] }],
      ['/v1/train', { model: MODEL, input: SAMPLES.slice(0, 3) }],
      ['/v1/train', { model: MODEL, input: [SAMPLES[0], { text: 'a', label: '' }] }],
    ])('%s refuses labels that cannot be used: %j', async (where, request) => {
      const { status, body } = await host.post(where, request);
      expect([status, body.code]).toEqual([400, 'INPUT_INVALID_LABELS']);
      expect(body.detail).toMatch(/^Invalid training labels: /);
    });

    it('needs a key, a known model and the right method', async () => {
      const unkeyed = await host.post('/v1/classify', {}, { authorization: '' });
      expect([unkeyed.status, unkeyed.body.code]).toEqual([401, 'AUTH_MISSING_API_KEY']);
      const unknown = await host.post('/v1/classify', { model: 'nope', input: 'a', labels: LABELS });
      expect([unknown.status, unknown.body.code]).toEqual([400, 'INPUT_MODEL_NOT_FOUND']);
      expect((await ask('PUT', '/v1/train')).status).toBe(405);
      const missing = await host.post('/v1/classify', { classifier_id: 'nope', input: 'a' });
      expect(missing.body).toMatchObject({
        code: 'RESOURCE_NOT_FOUND',
        detail: 'classifier nope not found or access denied',
      });
    });
  });
});
