/** Section 2 of the second document: the fields of documents and scores, in requests and in responses. */
import { afterAll, beforeAll, expect } from 'vitest';
import { type Any, HTTP, openStream, post, type SeedFlow, startFlow } from './flow-server.ts';
import { flow } from './seed.ts';

let served: SeedFlow;
beforeAll(async () => {
  served = await startFlow(HTTP);
});
afterAll(() => served?.close());

/** Sends one document through the flow to an endpoint that changes nothing, over HTTP and over WebSocket. */
async function echo(document: { readonly id?: string; readonly [field: string]: unknown }): Promise<Any> {
  const { data } = await post(served, { data: [document], execEndpoint: '/nothing' });
  const socket = await openStream(served.urls.HTTP!);
  socket.send({ data: [document], execEndpoint: '/nothing' });
  const frame = await socket.next();
  socket.close();
  expect(frame.data[0]).toEqual({ ...data[0], ...(!document.id && { id: expect.any(String) }) });
  return data[0];
}

/**
 * Checks that a field accepts and returns each of the values in `kept` and is `null` if missing. Values in `refused`
 * must be rejected with the name of the field.
 */
async function expectField(name: string, kept: readonly unknown[], refused: readonly unknown[] = []): Promise<void> {
  for (const value of kept) expect([value, (await echo({ id: 'd', [name]: value }))[name]]).toEqual([value, value]);
  if (name !== 'id') expect((await echo({ id: 'd', [name]: null }))[name]).toBeNull();
  expect(await echo({})).toHaveProperty(name);
  for (const value of refused) {
    const answer = await served.ask('POST', '/post', { data: [{ id: 'd', [name]: value }] });
    expect([value, answer.status, answer.body.detail?.[0].loc]).toEqual([
      value,
      422,
      expect.arrayContaining(['body', 'data', 0, name]),
    ]);
  }
}

const NO_TEXT = [true, ['a'], { a: 1 }];
const NO_NUMBER = ['many', true, [1], { a: 1 }];

flow.row('2', 'id | string | Document identifier', async () => {
  await expectField('id', ['d1', 'https://a.example/#1', 'é'], NO_TEXT);
  const [first, second] = [await echo({}), await echo({ id: '' })];
  expect(first.id).toMatch(/^[0-9a-f]{32}$/);
  expect(second.id).toMatch(/^[0-9a-f]{32}$/);
  expect(first.id).not.toBe(second.id);
});
flow.row('2', 'parent_id | string | Identifier of the parent document', () =>
  expectField('parent_id', ['d0'], NO_TEXT),
);
flow.row('2', 'granularity | number | Numeric level', () => expectField('granularity', [1, 7], NO_NUMBER));
flow.row('2', 'adjacency | number | Numeric level', () => expectField('adjacency', [1, 7], NO_NUMBER));
flow.row('2', 'blob | string | Binary content', () =>
  expectField('blob', [Buffer.from([0, 1, 254, 255]).toString('base64')], ['$', 7, { a: 1 }]),
);
flow.row('2', 'tensor | any, nullable | Content as a tensor', async () => {
  await expectField('tensor', [[1, 2], [0.5, -1e-7], [[true, false]], [[[1], [2]]]], [[[1], [1, 2]]]);
  const dense = { buffer: Buffer.from([1, 0, 2, 0]).toString('base64'), shape: [2], dtype: '<i2' };
  expect((await echo({ tensor: { dense } })).tensor).toEqual([1, 2]);
});
flow.row('2', 'mime_type | string | Media type of the content', () =>
  expectField('mime_type', ['text/plain', 'image/png'], NO_TEXT),
);
flow.row('2', 'text | string | Text content', () =>
  expectField('text', ['Green tea', 'two\nlines "quoted" \u{1f375}'], NO_TEXT),
);
flow.row('2', 'weight | number | Weight', () => expectField('weight', [1, 0.5, -2], NO_NUMBER));
flow.row('2', 'uri | string | Location of the content', () =>
  expectField('uri', ['https://a.example/b', 'data:text/plain,a'], NO_TEXT),
);
flow.row('2', 'tags | object | Map from string key to a value', async () => {
  await expectField('tags', [{ a: 'text', b: 1.5, c: true, d: null, e: [1, 'x'], f: { g: {} } }], ['a', 7, ['a']]);
});
flow.row('2', 'offset | number | Position', () => expectField('offset', [3, 1.5], NO_NUMBER));
flow.row('2', 'location | array of numbers | Location', () =>
  expectField('location', [[1], [0, 12.5, -3]], ['a', 7, ['a']]),
);
flow.row('2', 'embedding | any, nullable | Embedding vector', () =>
  expectField('embedding', [[0.1, -2.5e-7, 3], [1, 2], [[1, 2]]], [[[1], [1, 2]]]),
);
flow.row('2', 'modality | string | Modality label', () => expectField('modality', ['text', 'image'], NO_TEXT));

const SCORE = { value: 0.5, op_name: 'cosine', description: 'closeness', ref_id: 'd2' };
flow.row('2', 'evaluations | object | Map from name to Score record', () =>
  expectField('evaluations', [{ precision: SCORE, recall: { ...SCORE, value: 2 } }], ['a', 7, { a: 1 }]),
);
flow.row('2', 'scores | object | Map from name to Score record', () =>
  expectField('scores', [{ cosine: SCORE, bm25: { ...SCORE, value: 2 } }], ['a', 7, { a: 1 }]),
);

/** All fields of an empty document, except its id. */
const EMPTY = {
  parent_id: null,
  granularity: null,
  adjacency: null,
  blob: null,
  tensor: null,
  mime_type: null,
  text: null,
  weight: null,
  uri: null,
  tags: null,
  offset: null,
  location: null,
  embedding: null,
  modality: null,
  evaluations: null,
  scores: null,
  chunks: null,
  matches: null,
};

flow.row('2', 'chunks | array of Document | Nested documents', async () => {
  const inner = { id: 'c1', text: 'tea', chunks: [{ id: 'c2', tags: { a: 1 }, scores: { cosine: SCORE } }] };
  const { chunks, ...rest } = await echo({ id: 'd', chunks: [inner, { id: 'c3', embedding: [1] }] });
  expect(rest).toEqual({ ...EMPTY, id: 'd', chunks: undefined });
  const [first, second] = chunks;
  const nested = { parent_id: 'c1', granularity: 2, tags: { a: 1 }, scores: { cosine: SCORE } };
  expect(first).toEqual({
    ...{ ...EMPTY, id: 'c1', text: 'tea', parent_id: 'd', granularity: 1 },
    chunks: [{ ...EMPTY, id: 'c2', ...nested }],
  });
  expect(second).toMatchObject({ id: 'c3', embedding: [1], parent_id: 'd', granularity: 1 });
  await expectField('chunks', [], ['a', 7, { a: 1 }, [7]]);
});
flow.row('2', 'matches | array of Document | Nested documents', async () => {
  const inner = { id: 'm1', text: 'tea', scores: { cosine: SCORE }, matches: [{ id: 'm2', uri: 'data:,a' }] };
  const { matches, ...rest } = await echo({ id: 'd', matches: [inner] });
  expect(rest).toEqual({ ...EMPTY, id: 'd', matches: undefined });
  expect(matches).toMatchObject([
    { id: 'm1', text: 'tea', scores: { cosine: SCORE }, adjacency: 1, matches: [{ id: 'm2', uri: 'data:,a' }] },
  ]);
  expect(Object.keys(matches[0].matches[0]).sort()).toEqual(Object.keys({ ...EMPTY, id: '' }).sort());
  await expectField('matches', [], ['a', 7, { a: 1 }, [7]]);
});

flow.row('2', 'Score record: value (number), op_name (string), description (string), ref_id (string).', async () => {
  for (const field of ['scores', 'evaluations']) {
    expect((await echo({ [field]: { cosine: SCORE } }))[field]).toEqual({ cosine: SCORE });
    const part = (await echo({ [field]: { cosine: { value: 1 } } }))[field];
    expect(part).toEqual({ cosine: { value: 1, op_name: null, description: null, ref_id: null } });
    for (const wrong of [{ value: 'high' }, { op_name: {} }, { description: [] }, { ref_id: true }]) {
      const answer = await served.ask('POST', '/post', { data: [{ [field]: { cosine: wrong } }] });
      expect([wrong, answer.status]).toEqual([wrong, 422]);
      expect(answer.body.detail[0].loc.slice(0, 5)).toEqual(['body', 'data', 0, field, 'cosine']);
    }
  }
});

flow.open(
  '2',
  'Value types of tensor, embedding and the tags map: not shown beyond the table above.',
  'Arrays are nested lists of numbers or booleans, or `{"dense": …}` with their bytes; tags hold any JSON value ([flow](wire/flow.md#arrays)).',
);
