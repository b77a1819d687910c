import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { namesOf, optionsOf, readLine, readLineValue } from './line.ts';
import { taskOfKind } from './task.ts';

const isModel = namesOf('tea', 'tea-v1', 'makers/tea-v1');
const read = (value: unknown) => readLineValue(value, 7, isModel);
const line = (input: unknown, more: object = {}) => ({ custom_id: 'a', body: { input, ...more } });

describe('a line', () => {
  it.each([
    ['a', ['a']],
    ['', ['']],
    [{ text: 'a' }, ['a']],
    [
      ['a', { text: 'b', more: 1 }],
      ['a', 'b'],
    ],
  ])('holds %j', (input, texts) => {
    expect(read(line(input))).toEqual({ line: 7, id: 'a', texts, options: {} });
  });

  it.each([
    [null, null, 'must be a JSON object'],
    ['a', null, 'must be a JSON object'],
    [[], null, 'must be a JSON object'],
    [{ body: { input: 'a' } }, null, 'custom_id is required'],
    [{ custom_id: 1, body: { input: 'a' } }, null, 'must be a string'],
    [{ custom_id: '', body: { input: 'a' } }, null, '1 to 256'],
    [{ custom_id: 'x'.repeat(257), body: { input: 'a' } }, null, '1 to 256'],
    [{ custom_id: 'a' }, 'a', 'body is required'],
    [{ custom_id: 'a', body: 'b' }, 'a', 'body must be an object'],
    [{ custom_id: 'a', body: {} }, 'a', 'body.input is required'],
    [line(null), 'a', 'body.input is required'],
    [line([]), 'a', 'at least one'],
    [line(1), 'a', 'must be a string'],
    [line(['a', 1]), 'a', 'body.input[1] must be'],
    [line([1, 2]), 'a', 'body.input[0] must be'],
    [line({ image: 'https://img.example/a.png' }), 'a', 'must be a string'],
    [line(new Array(2_049).fill('a')), 'a', 'at most 2048'],
    [line('a', { model: 'coffee' }), 'a', 'must be the model of the job'],
    [line('a', { model: 1 }), 'a', 'must be the model of the job'],
  ])('%j fails alone', (value, id, fault) => {
    expect(read(value)).toEqual({ line: 7, id, fault: expect.stringContaining(fault) });
  });

  it('accepts every name of the model', () => {
    for (const model of ['tea', 'tea-v1', 'makers/tea-v1', 'others/tea', null]) {
      expect(read(line('a', { model })).fault, String(model)).toBeUndefined();
    }
  });

  it('counts characters, not surrogates', () => {
    expect(read({ custom_id: '\u{1F375}'.repeat(256), body: { input: 'a' } }).fault).toBeUndefined();
    expect(read({ custom_id: '\u{1F375}'.repeat(257), body: { input: 'a' } }).fault).toBeDefined();
  });

  it('overrides the options of the job, by any of their names', () => {
    const body = {
      input: 'a',
      encoding_format: 'base64',
      task: 'clustering',
      output_dimension: 8,
      truncate: null,
      x: 1,
    };
    expect(optionsOf(body)).toEqual({ embedding_type: 'base64', task: 'clustering', dimensions: 8 });
    expect(optionsOf({ dimensions: 4, output_dimension: 8 })).toEqual({ dimensions: 4 });
  });

  it('never throws, whatever its bytes', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.uint8Array(),
          fc.json().map((text) => Buffer.from(text)),
        ),
        (bytes) => {
          const { line: number, fault } = readLine(bytes, 3, isModel);
          expect([number, typeof fault]).toEqual([3, 'string']);
        },
      ),
      { seed: 8 },
    );
    fc.assert(
      fc.property(fc.json(), (value) => {
        expect(read(JSON.parse(value)).line).toBe(7);
      }),
      { seed: 8 },
    );
  });

  it.each([
    [undefined, 'longer than'],
    [Buffer.from([0x22, 0xff, 0x22]), 'not UTF-8'],
    [Buffer.from('{'), 'not valid JSON'],
    [Buffer.from('['.repeat(100_000)), 'nested too deep'],
  ])('of bytes that are none fails alone', (bytes, fault) => {
    expect(readLine(bytes, 1, isModel)).toEqual({ line: 1, id: null, fault: expect.stringContaining(fault) });
  });
});

describe('the task', () => {
  it.each([
    ['text-v5', undefined, 'text-matching'],
    ['text-v5', 'retrieval', 'retrieval'],
    ['text-v5', 'clustering', 'clustering'],
    ['text-v3', undefined, 'text-matching'],
    ['text-v3', 'retrieval', 'retrieval.passage'],
    ['text-v3', 'clustering', 'separation'],
    ['text-v3', 'separation', 'separation'],
    ['omni-v4', 'classification', 'text-matching'],
    ['code', undefined, undefined],
    ['code', 'nl2code.query', 'nl2code.query'],
    ['text-v2', 'retrieval', undefined],
    ['text-v3', 'nonsense', 'nonsense'],
    ['text-v3', 7, 7],
  ] as const)('of kind %s, %s, is %s', (kind, task, expected) => {
    expect(taskOfKind(task, kind)).toBe(expected);
  });
});
