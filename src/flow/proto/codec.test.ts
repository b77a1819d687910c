import fc from 'fast-check';
import { expect, it } from 'vitest';
import { Document } from '../document.ts';
import { NdArray } from '../ndarray.ts';
import { createRequest, type DataRequest } from '../request.ts';
import type { JsonValue } from '../values.ts';
import {
  controlRequestProto,
  decodeRequest,
  decodeRequestList,
  decodeSingleDocument,
  decodeStatus,
  encodeRequest,
  encodeRequestList,
  encodeSingleDocument,
  encodeStatus,
  encodeWithoutData,
  endpointsProto,
  infoProto,
  restoreSnapshotCommand,
  restoreSnapshotStatusProto,
  snapshotStatusProto,
} from './codec.ts';
import { createPeers, type Plain } from './protocol.suite.ts';

const { today, later } = createPeers();
const SEED = { seed: 909, numRuns: 60 };

// A message as another codec represents it.
const text = fc.string({ unit: 'grapheme', maxLength: 8 });
const name = fc.string({ minLength: 1, maxLength: 6 }).filter((key) => key !== '__proto__');
const float = fc.float({ noNaN: true });
const uint = fc.nat({ max: 2 ** 31 - 1 });
const bytes = fc.uint8Array({ maxLength: 24 });
const some = (fields: Record<string, fc.Arbitrary<unknown>>) => fc.record(fields, { requiredKeys: [] });
const extra = {
  later_text: text,
  later_number: fc.nat(),
  later_list: fc.array(bytes, { maxLength: 2 }),
};

const { struct } = fc.letrec<{ struct: unknown; value: unknown }>((tie) => ({
  struct: fc.record({ fields: fc.dictionary(name, tie('value'), { maxKeys: 3 }) }),
  value: fc.oneof(
    { depthSize: 'small' },
    fc.constant({ null_value: 0 }),
    fc.record({ number_value: fc.double({ noNaN: true }) }),
    fc.record({ string_value: text }),
    fc.record({ bool_value: fc.boolean() }),
    fc.record({ struct_value: tie('struct') }),
    fc.record({ list_value: fc.record({ values: fc.array(tie('value'), { maxLength: 3 }) }) }),
  ),
}));

function messages(more: Record<string, fc.Arbitrary<unknown>>) {
  const dense = some({ buffer: bytes, shape: fc.array(uint, { maxLength: 3 }), dtype: text, ...more });
  const sparse = some({ indices: dense, values: dense, shape: fc.array(uint, { maxLength: 3 }), ...more });
  const array = fc.oneof(
    fc.record({ dense, cls_name: text, parameters: struct }, { requiredKeys: ['dense'] }),
    fc.record({ sparse, cls_name: text, parameters: struct, ...more }, { requiredKeys: ['sparse'] }),
  );
  const score = some({ value: float, op_name: text, description: text, ref_id: text, ...more });
  const { document } = fc.letrec<{ document: Plain }>((tie) => ({
    document: fc
      .tuple(
        fc.record(
          {
            id: name,
            granularity: uint,
            adjacency: uint,
            parent_id: text,
            weight: float,
            uri: text,
            modality: text,
            mime_type: text,
            offset: float,
            location: fc.array(float, { maxLength: 3 }),
            embedding: array,
            tags: struct.filter((tags) => Object.keys((tags as { fields: object }).fields).length > 0),
            scores: fc.dictionary(name, score, { maxKeys: 2 }),
            evaluations: fc.dictionary(name, score, { maxKeys: 2 }),
            _metadata: struct,
            chunks: fc.array(tie('document'), { maxLength: 2, depthIdentifier: 'documents', size: 'xsmall' }),
            matches: fc.array(tie('document'), { maxLength: 2, depthIdentifier: 'documents', size: 'xsmall' }),
            ...more,
          },
          { requiredKeys: ['id'] },
        ),
        fc.oneof(fc.constant({}), fc.record({ text }), fc.record({ blob: bytes }), fc.record({ tensor: array })),
      )
      .map(([fields, content]): Plain => ({ ...fields, ...content })),
  }));
  const exception = some({ name: text, args: fc.array(text), stacks: fc.array(text), executor: text, ...more });
  const status = some({ code: fc.nat(1), description: text, exception, ...more });
  const time = some({ seconds: fc.nat(2 ** 31), nanos: fc.nat(999_999_999) });
  const header = some({
    request_id: text,
    status,
    exec_endpoint: text,
    target_executor: text,
    timeout: uint,
    ...more,
  });
  const route = some({ executor: text, start_time: time, end_time: time, status, ...more });
  const envelope = {
    header,
    parameters: struct.filter((tags) => Object.keys((tags as { fields: object }).fields).length > 0),
    routes: fc.array(route, { maxLength: 2 }),
  };
  const data = fc.oneof(
    fc.record({ docs: fc.record({ docs: fc.array(document, { maxLength: 3 }) }) }),
    fc.record({ docs_bytes: bytes }),
  );
  const request = fc.record({ ...envelope, data, ...more }, { requiredKeys: ['header', 'data'] });
  return { request, document, envelope, status, header };
}

const plain = messages({});
const extended = messages(extra);

it('round-trips every request of another codec unchanged', () => {
  fc.assert(
    fc.property(plain.request, (request) => {
      const given = today.encode('DataRequestProto', request as Plain);
      const through = encodeRequest(decodeRequest(given));
      expect(today.decode('DataRequestProto', through)).toEqual(today.decode('DataRequestProto', given));
    }),
    SEED,
  );
});

it('keeps unknown fields in every message', () => {
  fc.assert(
    fc.property(extended.request, (request) => {
      const given = later.encode('DataRequestProto', request as Plain);
      const through = encodeRequest(decodeRequest(given));
      expect(later.decode('DataRequestProto', through)).toEqual(later.decode('DataRequestProto', given));
    }),
    SEED,
  );
});

it('encodes and decodes request lists, single documents and requests without documents', () => {
  const single = fc.record({ ...plain.envelope, document: plain.document }, { requiredKeys: ['header', 'document'] });
  fc.assert(
    fc.property(fc.array(plain.request, { maxLength: 3 }), single, (requests, one) => {
      const list = today.encode('DataRequestListProto', { requests });
      expect(today.decode('DataRequestListProto', encodeRequestList(decodeRequestList(list)))).toEqual(
        today.decode('DataRequestListProto', list),
      );
      const bytes = today.encode('SingleDocumentRequestProto', one as Plain);
      const read = decodeSingleDocument(bytes);
      const decoded = today.decode('SingleDocumentRequestProto', bytes);
      expect(today.decode('SingleDocumentRequestProto', encodeSingleDocument(read))).toEqual(decoded);
      const { document: _, ...without } = decoded;
      expect(today.decode('DataRequestProtoWoData', encodeWithoutData(read))).toEqual(without);
    }),
    { seed: 909, numRuns: 50 },
  );
});

it('encodes and decodes the small messages', () => {
  fc.assert(
    fc.property(plain.status, plain.header, fc.array(text), fc.dictionary(name, text), (status, header, list, map) => {
      const through = (message: string, given: Plain, pass: (bytes: Uint8Array) => Uint8Array) => {
        const bytes = today.encode(message, given);
        expect(today.decode(message, pass(bytes))).toEqual(today.decode(message, bytes));
      };
      through('StatusProto', status as Plain, (bytes) => encodeStatus(decodeStatus(bytes)));
      through('EndpointsProto', { endpoints: list, write_endpoints: list, schemas: { fields: {} } }, (bytes) =>
        endpointsProto.encode(endpointsProto.decode(bytes)),
      );
      through('JinaInfoProto', { jina: map, envs: map }, (bytes) => infoProto.encode(infoProto.decode(bytes)));
      const entities = list.map((id, at) => ({ id, address: 'here', port: at, ...(at % 2 ? { shard_id: 0 } : {}) }));
      through('ControlRequestProto', { header, command: 2, related_entities: entities }, (bytes) =>
        controlRequestProto.encode(controlRequestProto.decode(bytes)),
      );
      through('SnapshotStatusProto', { id: { value: 'a' }, status: 3, snapshot_file: 'f' }, (bytes) =>
        snapshotStatusProto.encode(snapshotStatusProto.decode(bytes)),
      );
      through('RestoreSnapshotStatusProto', { id: { value: 'a' }, status: 6 }, (bytes) =>
        restoreSnapshotStatusProto.encode(restoreSnapshotStatusProto.decode(bytes)),
      );
      through('RestoreSnapshotCommand', { snapshot_file: 'f' }, (bytes) =>
        restoreSnapshotCommand.encode(restoreSnapshotCommand.decode(bytes)),
      );
    }),
    { seed: 909, numRuns: 50 },
  );
});

it('reads fields written by another codec', () => {
  const bytes = today.encode('DataRequestProto', {
    header: { request_id: 'r', exec_endpoint: '/index', target_executor: 'a', timeout: 5 },
    parameters: { fields: { n: { number_value: 3 } } },
    routes: [{ executor: 'gateway', start_time: { seconds: 1700000000, nanos: 5000 }, status: { code: 1 } }],
    data: {
      docs: {
        docs: [
          {
            id: 'd',
            tensor: { dense: { buffer: [0, 60], shape: [1], dtype: '<f2' }, cls_name: 'torch' },
            chunks: [{ id: 'c', text: 'x', parent_id: 'elsewhere', granularity: 7 }],
            scores: { cosine: { value: 0.5, op_name: 'op', ref_id: 'd' } },
            location: [1, 2],
          },
          { text: 'no id' },
        ],
      },
    },
  });
  const request = decodeRequest(bytes);
  expect(request.header).toEqual({ requestId: 'r', execEndpoint: '/index', targetExecutor: 'a', timeout: 5 });
  expect(request.parameters).toEqual({ n: 3 });
  expect(request.routes).toEqual([
    { executor: 'gateway', startTime: { seconds: 1700000000, nanos: 5000 }, status: { code: 1, description: '' } },
  ]);
  const [first, second] = request.docs;
  expect(first!.tensor!.toList()).toEqual([1]);
  expect(first!.tensor!.clsName).toBe('torch');
  expect(first!.text).toBe('');
  expect(first!.chunks[0]).toMatchObject({ id: 'c', text: 'x', parentId: 'elsewhere', granularity: 7 });
  expect(first!.scores).toEqual({ cosine: { value: 0.5, opName: 'op', refId: 'd' } });
  expect(first!.location).toEqual([1, 2]);
  expect(second!.id).toMatch(/^[0-9a-f]{32}$/);
});

it('shares the bytes of arrays with the message', () => {
  const buffer = new Uint8Array(4096).fill(7);
  const document = new Document({ id: 'a' });
  document.embedding = NdArray.fromDense({ buffer, shape: [512], dtype: '<f8' });
  const bytes = encodeRequest(createRequest({ docs: [document] }));
  const read = decodeRequest(bytes);
  expect(read.docs[0]!.embedding!.buffer.buffer).toBe(bytes.buffer);
});

it('writes lists of numbers as little-endian arrays for Python clients', () => {
  const docs = [[1, 2], [0.5], [true, false]].map((embedding) => new Document({ embedding }));
  const decoded = today.decode('DataRequestProto', encodeRequest(createRequest({ docs }))) as {
    data: { docs: { docs: { embedding: unknown }[] } };
  };
  expect(decoded.data.docs.docs.map(({ embedding }) => embedding)).toEqual([
    {
      dense: { buffer: [1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0], shape: [2], dtype: '<i8' },
      cls_name: 'numpy',
    },
    { dense: { buffer: [0, 0, 0, 0, 0, 0, 224, 63], shape: [1], dtype: '<f8' }, cls_name: 'numpy' },
    { dense: { buffer: [1, 0], shape: [2], dtype: '|b1' }, cls_name: 'numpy' },
  ]);
});

it('encodes an empty request', () => {
  expect(decodeRequest(new Uint8Array())).toEqual({ header: { requestId: '' }, parameters: {}, routes: [], docs: [] });
});

it('keeps pickled documents undecoded', () => {
  const bytes = today.encode('DataRequestProto', { data: { docs_bytes: [128, 4, 149] } });
  expect(decodeRequest(bytes)).toMatchObject({ docs: [], docsBytes: Buffer.from([128, 4, 149]) });
});

it('refuses invalid bytes with a Problem only', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      try {
        decodeRequest(bytes);
      } catch (error) {
        expect(error).toMatchObject({ name: 'SubmittedDataMalformedError' });
      }
    }),
    { seed: 909, numRuns: 600 },
  );
  const whole = encodeRequest(createRequest({ docs: [new Document({ text: 'a text of some length' })] }));
  expect(() => decodeRequest(whole.subarray(0, whole.length - 3))).toThrow('not a DataRequestProto');
});

it('refuses deep nesting when reading and writing', () => {
  let value: JsonValue = 1;
  for (let depth = 0; depth < 5000; depth++) value = [value];
  expect(() => encodeRequest(createRequest({ parameters: { value } }))).toThrow('too deeply');
  let wire = Buffer.alloc(0);
  for (let depth = 0; depth < 1200; depth++) {
    const length = Buffer.from([(wire.length & 127) | 128, ((wire.length >> 7) & 127) | 128, wire.length >> 14]);
    wire = Buffer.concat([Buffer.from([14 * 8 + 2]), length, wire]);
  }
  const enclose = (tag: number, inner: Buffer) =>
    Buffer.concat([
      Buffer.from([tag, (inner.length & 127) | 128, ((inner.length >> 7) & 127) | 128, inner.length >> 14]),
      inner,
    ]);
  expect(() => decodeRequest(enclose(34, enclose(10, enclose(10, wire))))).toThrow('not a DataRequestProto');
  const loop = new Document({ id: 'loop' });
  loop.keepNested([loop], []);
  expect(() => encodeRequest(createRequest({ docs: [loop] }))).toThrow('too deeply');
});

it('treats `__proto__` as an ordinary key', () => {
  const parameters = JSON.parse('{"__proto__": {"polluted": true}}') as DataRequest['parameters'];
  const read = decodeRequest(encodeRequest(createRequest({ parameters })));
  expect(Object.keys(read.parameters)).toEqual(['__proto__']);
  expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
});
