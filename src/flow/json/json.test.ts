import { describe, expect, it } from 'vitest';
import { Document } from '../document.ts';
import { createRequest } from '../request.ts';
import { documentJson, readDocument, readRequest, requestFrame, requestJson } from './index.ts';

// biome-ignore lint/suspicious/noExplicitAny: the shape of an answer is what is tested.
const written = (document: Document): any => JSON.parse(documentJson(document));
// biome-ignore lint/suspicious/noExplicitAny: as above.
const through = (value: unknown): any => written(readDocument(value));

/** The issues as `location: type`. */
function refusal(read: () => unknown): string[] {
  try {
    read();
  } catch (error) {
    const { name, code, facts } = error as {
      name: string;
      code: number;
      facts: { detail: { loc: unknown[]; type: string }[] };
    };
    expect({ name, code }).toEqual({ name: 'SubmittedDataMalformedError', code: 422 });
    return facts.detail.map(({ loc, type }) => `${loc.join('.')}: ${type}`);
  }
  throw new Error('it was not refused');
}

const KEYS = [
  'id',
  'parent_id',
  'granularity',
  'adjacency',
  'blob',
  'tensor',
  'mime_type',
  'text',
  'weight',
  'uri',
  'tags',
  'offset',
  'location',
  'embedding',
  'modality',
  'evaluations',
  'scores',
  'chunks',
  'matches',
];

const FULL = {
  id: 'a',
  parent_id: 'p',
  granularity: 1,
  adjacency: 2,
  mime_type: 'text/plain',
  text: 'some "text"',
  weight: 0.5,
  uri: 'data:,x',
  tags: { a: [1, { b: null }], one: 1, zero: 0, yes: true },
  offset: 1.5,
  location: [1, 2.5],
  embedding: [[1, 2.5]],
  modality: 'text',
  evaluations: { e: { value: 1, op_name: 'o', description: 'd', ref_id: 'r' } },
  scores: { s: { value: 0.25 } },
};

describe('a document in JSON', () => {
  it('has every field in order, null if empty', () => {
    const empty = written(new Document({ id: 'a' }));
    expect(Object.keys(empty)).toEqual(KEYS);
    expect(empty).toEqual({ ...Object.fromEntries(KEYS.map((key) => [key, null])), id: 'a' });
  });

  it('keeps every field in a round trip', () => {
    expect(through(FULL)).toEqual({
      ...Object.fromEntries(KEYS.map((key) => [key, null])),
      ...FULL,
      scores: { s: { value: 0.25, op_name: null, description: null, ref_id: null } },
    });
    expect(through({ blob: 'aGk=' }).blob).toBe('aGk=');
    expect(through({ tensor: [[true], [false]] }).tensor).toEqual([[true], [false]]);
    expect(through({ tensor: [], embedding: [[], []] })).toMatchObject({ tensor: [], embedding: [] });
    expect(through({ tensor: [], text: 'a' })).toMatchObject({ tensor: null, text: 'a' });
    expect(through({ text: 'a', tensor: [] })).toMatchObject({ tensor: null, text: 'a' });
  });

  it('may omit any field or set it to null', () => {
    const document = through(Object.fromEntries(KEYS.map((key) => [key, null])));
    expect(document.id).toMatch(/^[0-9a-f]{32}$/);
    expect(through({ id: '' }).id).toMatch(/^[0-9a-f]{32}$/);
    expect(Object.values(document).filter((value) => value !== null)).toHaveLength(1);
  });

  it('accepts numbers as strings and rounds to single precision', () => {
    expect(through({ id: 7, text: 5, weight: 0.1 })).toMatchObject({ id: '7', text: '5', weight: 0.10000000149011612 });
  });

  it('keeps the tags 0 and 1 as numbers and writes non-JSON values as null', () => {
    expect(through({ tags: { a: 1, b: 0 } }).tags).toEqual({ a: 1, b: 0 });
    const document = new Document({ tags: { x: Number.NaN, y: Number.POSITIVE_INFINITY } });
    document.weight = Number.NaN;
    expect(written(document)).toMatchObject({ tags: { x: null, y: null }, weight: null });
  });

  it('accepts older field names and keeps unknown keys as tags without overwriting any', () => {
    const document = through({
      parentId: 'p',
      mimeType: 'm',
      buffer: 'aGk=',
      price: 3,
      color: 'red',
      contentHash: 'gone',
      tags: { color: 'blue' },
      score: { value: 1, opName: 'o', refId: 'r' },
    });
    expect(document).toMatchObject({ parent_id: 'p', mime_type: 'm', blob: 'aGk=', tags: { color: 'blue', price: 3 } });
    expect(document.tags).toEqual({ color: 'blue', price: 3 });
    expect(document.scores).toEqual({ score: { value: 1, op_name: 'o', description: null, ref_id: 'r' } });
  });

  it('accepts arrays in the older object form, also as blob, and writes lists', () => {
    const dense = { buffer: Buffer.from(new Float32Array([1, 2]).buffer).toString('base64'), shape: [2], dtype: '<f4' };
    expect(through({ embedding: { dense } }).embedding).toEqual([1, 2]);
    expect(through({ blob: { dense } }).tensor).toEqual([1, 2]);
    expect(readDocument({ embedding: { dense, clsName: 'torch' } }).embedding).toMatchObject({
      dtype: '<f4',
      clsName: 'torch',
    });
  });

  it('sets granularity, adjacency and parent of chunks and matches', () => {
    const matches = [{ granularity: 9, chunks: [{}] }, {}];
    const document = through({ id: 'r', chunks: [{ parent_id: 'x', chunks: [{}], matches: [{}] }], matches });
    expect(document.chunks[0]).toMatchObject({ parent_id: 'r', granularity: 1 });
    expect(document.chunks[0].chunks[0]).toMatchObject({ parent_id: document.chunks[0].id, granularity: 2 });
    expect(document.chunks[0].matches[0]).toMatchObject({ parent_id: null, granularity: null, adjacency: 1 });
    // Matches keep the granularity that was sent.
    expect(document.matches[0]).toMatchObject({ parent_id: null, granularity: 9, adjacency: 1 });
    expect(document.matches[0].chunks[0]).toMatchObject({ granularity: 10 });
    expect(document.matches[1]).toMatchObject({ granularity: null, adjacency: 1 });
  });

  it('treats `__proto__` as an ordinary key', () => {
    const document = readDocument(JSON.parse('{"__proto__": {"polluted": 1}, "tags": {"a": 1}}'));
    expect(Object.keys(document.tags)).toEqual(['a', '__proto__']);
    expect(JSON.parse(documentJson(document)).tags).toEqual(JSON.parse('{"a":1,"__proto__":{"polluted":1}}'));
    expect((document.tags as { polluted?: number }).polluted).toBeUndefined();
  });

  it.each<[unknown, string]>([
    [3, 'body: type_error.dict'],
    [{ id: {} }, 'body.id: type_error.str'],
    [{ text: true }, 'body.text: type_error.str'],
    [{ granularity: 'x' }, 'body.granularity: type_error.integer'],
    [{ granularity: -1 }, 'body.granularity: type_error.integer'],
    [{ weight: [] }, 'body.weight: type_error.float'],
    [{ tags: [] }, 'body.tags: type_error.dict'],
    [{ location: 1 }, 'body.location: type_error.list'],
    [{ location: [1, 'x'] }, 'body.location.1: type_error.float'],
    [{ blob: '?' }, 'body.blob: value_error.base64'],
    [{ blob: 'abcde' }, 'body.blob: value_error.base64'],
    [{ embedding: 1 }, 'body.embedding: type_error.list'],
    [{ embedding: {} }, 'body.embedding: type_error.list'],
    [{ embedding: [[1], [1, 2]] }, 'body.embedding: value_error'],
    [{ embedding: ['a'] }, 'body.embedding: value_error'],
    [{ tensor: { dense: { buffer: 'AAAA', shape: [2], dtype: '<f4' } } }, 'body.tensor.dense: value_error'],
    [{ tensor: { dense: { shape: [2 ** 20 + 1], dtype: '<f4' } } }, 'body.tensor.dense: value_error'],
    [{ tensor: { dense: { shape: Array(33).fill(1), dtype: '<f4' } } }, 'body.tensor.dense: value_error'],
    [{ embedding: { sparse: { shape: [2 ** 20, 2] } } }, 'body.embedding.sparse: value_error'],
    [{ scores: { a: 1 } }, 'body.scores.a: type_error.dict'],
    [{ chunks: {} }, 'body.chunks: type_error.list'],
    [{ chunks: [{}, { matches: [1] }] }, 'body.chunks.1.matches.0: type_error.dict'],
    [{ text: 'a', blob: 'aGk=' }, 'body: value_error'],
  ])('refuses %j', (value, issue) => {
    expect(refusal(() => readDocument(value))).toEqual([issue]);
  });

  it('names the two conflicting contents and ignores empty ones', () => {
    expect(() => readDocument({ text: 'a', tensor: [1] })).toThrow('only one field among [text, tensor]');
    expect(readDocument({ text: 'a', blob: '', tensor: null }).text).toBe('a');
    expect(readDocument({ text: '', blob: 'aGk=' }).blob).toEqual(new Uint8Array([104, 105]));
  });

  it('fills arrays without bytes with zeros, up to a limit for the whole request', () => {
    const zeros = (entries: number) => ({ tensor: { dense: { shape: [entries, 1], dtype: '<f4' } } });
    expect(through(zeros(2)).tensor).toEqual([[0], [0]]);
    const half = 2 ** 19;
    expect(readRequest({ data: [zeros(half), { chunks: [zeros(half)] }] }).docs).toHaveLength(2);
    expect(refusal(() => readRequest({ data: [zeros(half), { chunks: [zeros(half)] }, zeros(1)] }))).toEqual([
      'body.data.2.tensor.dense: value_error',
    ]);
  });

  it('limits the number of rows that bytes may expand to', () => {
    const buffer = Buffer.alloc(2 ** 20 + 1).toString('base64');
    const flat = { tensor: { dense: { buffer, shape: [1, 2 ** 20 + 1], dtype: '|b1' } } };
    expect(readDocument(flat).tensor?.shape).toEqual([1, 2 ** 20 + 1]);
    const rows = { tensor: { dense: { buffer, shape: [2 ** 20 + 1, 1], dtype: '|b1' } } };
    expect(refusal(() => readDocument(rows))).toEqual(['body.tensor.dense: value_error']);
  });

  it('refuses deep nesting in linear time', () => {
    const deep = (open: string, close: string) => JSON.parse(open.repeat(20_000) + close.repeat(20_000));
    expect(refusal(() => readDocument({ tags: { a: deep('[', ']') } }))).toEqual(['body.tags: value_error.depth']);
    expect(refusal(() => readDocument({ x: deep('[', ']') }))).toEqual(['body.x: value_error.depth']);
    expect(refusal(() => readDocument({ embedding: deep('[', ']') }))).toEqual(['body.embedding: value_error']);
    const chunks = JSON.parse(`${'{"chunks":['.repeat(2000)}{}${']}'.repeat(2000)}`);
    expect(refusal(() => readDocument(chunks))[0]).toMatch(/^body\.chunks\.0\.chunks\.0.*: value_error\.depth$/);
  });
});

describe('a request in JSON', () => {
  it('reads documents from a list, an object or nothing', () => {
    const count = (data: unknown) => readRequest({ data }).docs.length;
    expect([count([{}, {}]), count({ docs: [{}] }), count({ docs: null }), count(null), count(undefined)]).toEqual([
      2, 1, 0, 0, 0,
    ]);
  });

  it('reads strings as URIs, texts or ids', () => {
    const { docs } = readRequest({ data: ['some text', 'https://example.org/', 'data:,x', '/etc/passwd'] });
    expect(docs.map(({ text, uri }) => text || uri)).toEqual([
      'some text',
      'https://example.org/',
      'data:,x',
      '/etc/passwd',
    ]);
    expect(docs.map(({ uri }) => uri !== '')).toEqual([false, true, true, false]);
    expect(readRequest({ data: ['x'] }, { stringsAreIds: true }).docs[0]).toMatchObject({ id: 'x', text: '' });
  });

  it.each([
    [{ execEndpoint: '/a' }, '/a'],
    [{ exec_endpoint: '/b' }, '/b'],
    [{ header: { exec_endpoint: '/c' } }, '/c'],
    [{ exec_endpoint: '/b', header: { exec_endpoint: '/c' } }, '/b'],
    [{}, '/'],
  ])('%j goes to %s', (body, endpoint) => {
    expect(readRequest(body).header.execEndpoint).toBe(endpoint);
    expect(readRequest(body, { endpoint: '/route' }).header.execEndpoint).toBe('/route');
  });

  it.each(['targetExecutor', 'target_executor', 'targetPeapod', 'target_peapod'])('accepts %s', (key) => {
    expect(readRequest({ [key]: 'a' }).header.targetExecutor).toBe('a');
  });

  it('gets a new id unless its own must be kept', () => {
    const body = { header: { request_id: 'mine' }, routes: [{ executor: 'x' }], anything: 1 };
    expect(readRequest(body).header.requestId).toMatch(/^[0-9a-f]{32}$/);
    expect(readRequest(body, { keepsId: true }).header.requestId).toBe('mine');
    expect(readRequest(body).routes).toEqual([]);
  });

  it.each<[unknown, string[]]>([
    [[], ['body: type_error.dict']],
    [{ data: 3 }, ['body.data: type_error.list', 'body.data: type_error.dict']],
    [{ data: {} }, ['body.data.docs: value_error.missing']],
    [{ data: [3] }, ['body.data.0: type_error.dict']],
    [{ parameters: [1] }, ['body.parameters: type_error.dict']],
    [{ targetExecutor: [] }, ['body.targetExecutor: type_error.str']],
    [{ execEndpoint: null }, ['body.execEndpoint: type_error.none.not_allowed']],
  ])('refuses %j', (body, issues) => {
    expect(refusal(() => readRequest(body))).toEqual(issues);
  });
});

describe('an answer in JSON', () => {
  const time = { seconds: 1_795_256_411, nanos: 406_429_999 };
  const status = { code: 1, description: 'd', exception: { name: 'n', args: ['a'], stacks: [], executor: 'e' } };
  const answer = {
    ...createRequest({ requestId: 'r', endpoint: '/x', parameters: { p: 1 }, docs: [new Document({ id: 'a' })] }),
    routes: [
      { executor: 'gateway', startTime: time, endTime: time },
      { executor: 'passed', startTime: time },
      { executor: 'failed', startTime: time, endTime: time, status },
    ],
  };

  it('has exactly the keys that clients accept', () => {
    const at = '2026-11-21T10:20:11.406429+00:00';
    expect(JSON.parse(requestJson(answer))).toEqual({
      header: { requestId: 'r', status: null, execEndpoint: '/x', targetExecutor: '' },
      parameters: { p: 1 },
      routes: [
        { executor: 'gateway', startTime: at, endTime: at, status: null },
        { executor: 'passed', startTime: at, endTime: null, status: null },
        { executor: 'failed', startTime: at, endTime: at, status },
      ],
      data: [written(answer.docs[0]!)],
    });
    expect(JSON.parse(requestJson({ ...answer, docs: [] })).data).toEqual([]);
    expect(JSON.parse(requestJson({ ...answer, header: { requestId: 'r', status } })).header.status).toEqual(status);
  });

  it('uses snake_case in frames and omits unset fields except the target', () => {
    const at = '2026-11-21T10:20:11.406429Z';
    expect(JSON.parse(requestFrame(answer))).toEqual({
      header: { request_id: 'r', exec_endpoint: '/x', target_executor: '' },
      parameters: { p: 1 },
      routes: [
        { executor: 'gateway', start_time: at, end_time: at },
        { executor: 'passed', start_time: at },
        { executor: 'failed', start_time: at, end_time: at, status },
      ],
      data: [written(answer.docs[0]!)],
    });
  });
});
