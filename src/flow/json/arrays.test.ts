import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { NdArray } from '../ndarray.ts';
import { parseWithArrays } from './arrays.ts';
import { readRequest, requestJson } from './index.ts';

/** Makes every text longer than the minimum length. */
const PADDING = ' '.repeat(5000);

type Body = { data: Record<string, unknown>[] };
const parse = (text: string) => parseWithArrays(PADDING + text) as Body;
const embeddingOf = (list: string) => parse(`{"data":[{"embedding":${list}}]}`).data[0]!.embedding;

describe('a flat list of numbers', () => {
  it.each([
    ['[1,2]', '<i8', [2]],
    ['[ 1 ,\n2.0 ]', '<f8', [2]],
    ['[-0.5e-7]', '<f8', [1]],
    ['[0]', '<i8', [1]],
    ['[12345678901234567890]', '<f8', [1]],
  ])('keeps %s as text with dtype %s', (list, dtype, shape) => {
    const array = embeddingOf(list) as NdArray;
    expect(array).toBeInstanceOf(NdArray);
    expect([array.dtype, array.shape, array.toJson()]).toEqual([dtype, shape, list]);
    expect(array.clone().toJson()).toBe(list);
    expect(array.toList()).toEqual(JSON.parse(list));
  });

  it('computes its bytes on request and reflects changes to them', () => {
    const array = embeddingOf('[1.5,2]') as NdArray;
    expect([...array.toFloat64()]).toEqual([1.5, 2]);
    new DataView(array.buffer.buffer, array.buffer.byteOffset).setFloat64(8, 7, true);
    expect(array.toJson()).toBe('[1.5,7]');
  });

  it('is found in chunks, matches, `data.docs` and tensors', () => {
    const inner = '{"chunks":[{"tensor":[1,2]}],"matches":[{"matches":[{"embedding":[3]}]}]}';
    for (const data of [`[${inner}]`, `{"docs":[${inner}]}`]) {
      const request = readRequest(parse(`{"data":${data}}`), {});
      expect(request.docs[0]?.chunks[0]?.tensor?.toJson()).toBe('[1,2]');
      expect(request.docs[0]?.matches[0]?.matches[0]?.embedding?.toJson()).toBe('[3]');
    }
  });
});

describe('everything else is parsed by JSON.parse', () => {
  it.each([
    '{"data":[{"embedding":[]}]}',
    '{"data":[{"embedding":[[1],[2]]}]}',
    '{"data":[{"embedding":[1,true]}]}',
    '{"data":[{"embedding":[1e400]}]}',
    '{"data":[{"embedding":null,"tags":{"embedding":[1,2]}}]}',
    '{"data":[{"text":"\\"embedding\\":[1,2]"}]}',
    '{"data":[{"text":"\\\\","tags":{"tensor":[1]}}]}',
    '{"data":[{"embedding":[1],"embedding":[2]}],"parameters":{"embedding":[1]}}',
    '{"embedding":[1]}',
    '[{"embedding":[1]}]',
    '3',
  ])('%s', (text) => {
    expect(parse(text)).toEqual(JSON.parse(text));
  });

  it.each([
    '{"data":[{"embedding":[01]}]}',
    '{"data":[{"embedding":[1.]}]}',
    '{"data":[{"embedding":[+1]}]}',
    '{"data":[{"embedding":[1,]}]}',
    '{"data":[{"embedding":[1 2]}]}',
    '{"data":[{"embedding":[-]}]}',
    '{"data":[{"embedding":[1e]}]}',
    '{"data":[{"embedding":[1',
    '{"data":[{"embedding":[1]"a":1}]}',
    '{"data":["a"embedding":[1]]}',
  ])('%s is refused', (text) => {
    expect(() => parse(text)).toThrow(SyntaxError);
    expect(() => JSON.parse(text)).toThrow(SyntaxError);
  });

  it('writes the same values with and without kept text', () => {
    const numbers = fc.array(fc.oneof(fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true })), {
      maxLength: 5,
    });
    const value = fc.oneof(numbers, fc.array(numbers, { maxLength: 2 }), fc.string(), fc.constant(null));
    const { document } = fc.letrec((tie) => ({
      document: fc.record(
        {
          id: fc.string({ minLength: 1 }),
          embedding: numbers,
          tags: fc.dictionary(fc.constantFrom('embedding', 'tensor', 'a"embedding', '\\'), value, { maxKeys: 3 }),
          chunks: fc.array(tie('document'), { maxLength: 2 }),
        },
        { requiredKeys: ['id'] },
      ),
    }));
    fc.assert(
      fc.property(fc.array(document, { maxLength: 3 }), fc.constantFrom(undefined, 1), (data, indent) => {
        const text = JSON.stringify({ data }, undefined, indent);
        const answer = (body: unknown) => JSON.parse(requestJson(readRequest(body, { endpoint: '/a' }))).data;
        expect(answer(parse(text))).toEqual(answer(JSON.parse(text)));
      }),
      { seed: 5, numRuns: 300 },
    );
  });
});
