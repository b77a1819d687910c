import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createRequest } from '../request.ts';
import { oldGenerationOf } from './old-form.ts';
import { createOldPeer } from './old-protocol.suite.ts';
import { decodeOldRequest, encodeOldAnswer, type OldRequest } from './old-request.ts';
import { createPeers, type Plain } from './protocol.suite.ts';

const v1 = createOldPeer(1);
const v2 = createOldPeer(2);
const { today } = createPeers();
const ID = '5f3c2c9a-63f4-4a38-9f0e-0a7d2d2d1a10';
const DOCS = { docs: [{ id: 'd1', text: 'a' }] };
const TEXT = { fields: { a: { string_value: 'b' } } };

/** The request with its own documents as the response. */
const echoed = (old: OldRequest) => encodeOldAnswer(old, { ...createRequest(), docs: old.docs });

const document = {
  id: 'd1',
  blob: { dense: { buffer: [0, 0, 128, 63], shape: [1], dtype: '<f4' } },
  chunks: [{ id: 'c1', text: 'part', granularity: 1, parent_id: 'd1' }],
  weight: 0.5,
  matches: [{ id: 'm1', buffer: [1, 2], adjacency: 1 }],
  uri: 'https://a.example',
  mime_type: 'text/plain',
  tags: TEXT,
  granularity: 2,
  parent_id: 'p',
  location: [3, 4],
  offset: 7,
  embedding: { sparse: { indices: { shape: [1, 1], dtype: '<i8' }, values: { shape: [1], dtype: '<f4' }, shape: [9] } },
  modality: 'text',
  adjacency: 3,
};

describe('documents', () => {
  it('of generation 1 keep every field, with their content hash', () => {
    const score = { value: 0.25, op_name: 'cosine', description: 'why', ref_id: 'q' };
    const given = { ...document, score, evaluations: [{ value: 1, op_name: 'precision' }] };
    const bytes = v1.encode('RequestProto', { request_id: ID, index: { docs: [given] } });
    const { index } = v1.decode('RequestProto', echoed(decodeOldRequest(bytes, 1))) as { index: { docs: Plain[] } };
    expect(index.docs[0]).toMatchObject(given);
    expect(index.docs[0]!.content_hash).toMatch(/^[0-9a-f]{16}$/);
  });

  it('of generation 2 keep every field', () => {
    const scores = { cosine: { value: 0.25, op_name: 'Cosine', ref_id: 'q' } };
    const given = { ...document, scores, evaluations: { precision: { value: 1 } } };
    const bytes = v2.encode('RequestProto', {
      request_id: ID,
      data: { docs: [given] },
      header: { exec_endpoint: '/a' },
    });
    const { data } = v2.decode('RequestProto', echoed(decodeOldRequest(bytes, 2))) as { data: { docs: Plain[] } };
    expect(data.docs).toEqual([given]);
  });

  it('with quantized arrays are refused', () => {
    const embedding = { dense: { buffer: [1], shape: [1], dtype: '|u1', quantization: 2 } };
    const bytes = v1.encode('RequestProto', { request_id: ID, index: { docs: [{ embedding }] } });
    expect(() => decodeOldRequest(bytes, 1)).toThrow('Quantized arrays are not supported');
  });

  it('nested too deeply are refused', () => {
    let nested: Buffer<ArrayBufferLike> = Buffer.alloc(0);
    const wrap = (number: number) => {
      const length = [(nested.length & 127) | 128, ((nested.length >> 7) & 127) | 128, nested.length >> 14];
      nested = Buffer.concat([Buffer.from([(number << 3) | 2, ...length]), nested]);
    };
    for (let depth = 0; depth < 300; depth++) wrap(4);
    wrap(1);
    wrap(3);
    expect(() => decodeOldRequest(nested, 1)).toThrow('not a RequestProto');
  });
});

describe('an answer', () => {
  const time = { seconds: 1_700_000_000, nanos: 5000 };
  const routes = [
    { executor: 'gateway', startTime: time, endTime: time },
    { executor: 'skipped', startTime: time },
  ];

  it('of generation 1 has its body, status, query set and routes, the gateway first and last', () => {
    const queryset = [{ name: 'SliceQL', parameters: TEXT, disabled: true, priority: 1 }];
    const groundtruths = [{ id: 'g', text: 'true' }];
    const bytes = v1.encode('RequestProto', { request_id: ID, search: { ...DOCS, groundtruths }, queryset });
    const old = decodeOldRequest(bytes, 1);
    const status = { code: 1, description: 'no', exception: { name: 'E', args: ['1'], stacks: [], executor: 'X' } };
    const answer = { ...createRequest(), docs: old.docs, routes };
    answer.header.status = status;
    const { search, ...rest } = v1.decode('RequestProto', encodeOldAnswer(old, answer)) as Record<string, Plain>;
    expect(search).toMatchObject({ ...DOCS, groundtruths });
    const [first, second, third] = rest.routes as unknown as Plain[];
    expect(rest).toMatchObject({
      request_id: ID,
      queryset,
      status: { code: 3, description: 'no', exception: { name: 'E', args: ['1'], executor: 'X' } },
    });
    expect(first).toEqual({ pod: 'gateway', pod_id: 'gateway', start_time: time, end_time: time });
    expect(second).toEqual({ pod: 'skipped', pod_id: 'skipped', start_time: time, end_time: time });
    expect(third).toEqual(first);
  });

  it('to a deletion has the ids, to STATUS the code READY', () => {
    const deletion = v1.encode('RequestProto', { request_id: ID, delete: { ids: ['a', 'b'] } });
    expect(v1.decode('RequestProto', echoed(decodeOldRequest(deletion, 1)))).toMatchObject({
      delete: { ids: ['a', 'b'] },
    });
    const control = { command: 1, propagate: true };
    const asked = decodeOldRequest(v1.encode('RequestProto', { request_id: ID, control }), 1);
    expect(asked).toMatchObject({ kind: 'control', command: 1 });
    expect(v1.decode('RequestProto', echoed(asked))).toMatchObject({ control, status: { code: 2 } });
  });

  it('of generation 2 has the endpoint and the parameters', () => {
    const header = { exec_endpoint: '/a', target_peapod: 'p.*' };
    const bytes = v2.encode('RequestProto', { request_id: ID, data: DOCS, header, parameters: TEXT });
    const old = decodeOldRequest(bytes, 2);
    expect(old).toMatchObject({ execEndpoint: '/a', targetExecutor: 'p.*', parameters: { a: 'b' } });
    const answer = { ...createRequest({ endpoint: '/a', parameters: { a: 'b' } }), docs: old.docs, routes };
    expect(v2.decode('RequestProto', encodeOldAnswer(old, answer))).toMatchObject({
      request_id: ID,
      data: DOCS,
      header: { exec_endpoint: '/a' },
      parameters: TEXT,
      status: {},
    });
  });
});

describe('the form of a message', () => {
  const old = (fields: Plain, peer = v1) => peer.encode('RequestProto', fields);

  it.each(['train', 'index', 'search', 'update'])('is that of generation 1: %s', (kind) => {
    for (const request_id of [ID, 'r1', '(', 'ü', '"quoted"', '0'.repeat(32)]) {
      expect(oldGenerationOf(old({ request_id, [kind]: DOCS, queryset: [{ name: 'q' }] }), false)).toBe(1);
    }
  });

  it('is that of generation 1 for deletions and commands, without an id too', () => {
    expect(oldGenerationOf(old({ delete: { ids: ['a'] } }), false)).toBe(1);
    expect(oldGenerationOf(old({ control: { command: 1 } }), false)).toBe(1);
  });

  it('is that of generation 2', () => {
    const header = { exec_endpoint: '/search' };
    expect(oldGenerationOf(old({ request_id: ID, data: DOCS, header }, v2), false)).toBe(2);
    expect(oldGenerationOf(old({ request_id: ID, data: DOCS, parameters: TEXT }, v2), false)).toBe(2);
    expect(oldGenerationOf(old({ request_id: ID, control: { command: 1 }, header }, v2), false)).toBe(2);
  });

  it('is the current one, whatever the request id, the status or the endpoint', () => {
    const text = fc.string({ unit: 'grapheme', maxLength: 8 });
    const header = fc.oneof(
      fc.record({ request_id: text.filter(Boolean), exec_endpoint: text, target_executor: text, timeout: fc.nat() }),
      fc.record({ exec_endpoint: text }),
      fc.record({ status: fc.record({ code: fc.nat(1), description: text }) }),
      fc.record({}),
    );
    fc.assert(
      fc.property(header, fc.boolean(), (given, prefersOld) => {
        const bytes = today.encode('DataRequestProto', { header: given, data: { docs: { docs: [{ id: 'a' }] } } });
        expect(oldGenerationOf(bytes, prefersOld)).toBeUndefined();
      }),
      { seed: 909, numRuns: 200 },
    );
    expect(oldGenerationOf(new Uint8Array(), true)).toBeUndefined();
  });

  it('is decided by the preference if it is ambiguous', () => {
    const withoutHeader = today.encode('DataRequestProto', { data: { docs: { docs: [{ id: 'a' }] } } });
    const onlyTarget = today.encode('DataRequestProto', { header: { target_executor: 'abc' } });
    const onlyTimeout = today.encode('DataRequestProto', { header: { timeout: 49 } });
    for (const bytes of [withoutHeader, onlyTimeout, old({ request_id: '(1', index: DOCS }), old({ index: DOCS })]) {
      expect(oldGenerationOf(bytes, false)).toBeUndefined();
      expect(oldGenerationOf(bytes, true)).toBe(1);
    }
    // The length of the target is a control character, so this cannot be an id.
    expect(oldGenerationOf(onlyTarget, true)).toBeUndefined();
  });

  it('of other bytes is none', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), fc.boolean(), (bytes, prefersOld) => {
        const generation = oldGenerationOf(bytes, prefersOld);
        if (!generation) return;
        try {
          decodeOldRequest(bytes, generation);
        } catch (error) {
          expect(error).toMatchObject({ name: 'SubmittedDataMalformedError' });
        }
      }),
      { seed: 909, numRuns: 600 },
    );
  });
});
