import { describe, expect, it } from 'vitest';
import { cloneDocuments, createId, Document } from './document.ts';
import { NdArray } from './ndarray.ts';

describe('a document', () => {
  it('has a random id of 32 hexadecimal digits', () => {
    const ids = Array.from({ length: 2000 }, createId);
    expect(new Set(ids).size).toBe(2000);
    expect(ids.every((id) => /^[0-9a-f]{32}$/.test(id))).toBe(true);
    expect(new Document({ id: '' }).id).toMatch(/^[0-9a-f]{32}$/);
  });

  it('has one content: setting one clears the others but not the URI', () => {
    const document = new Document({ text: 'a', uri: 'u' });
    document.blob = new Uint8Array([1]);
    expect([document.text, document.blob, document.tensor]).toEqual(['', new Uint8Array([1]), undefined]);
    document.tensor = [[1, 2]];
    expect([document.text, document.blob, document.tensor?.shape]).toEqual(['', undefined, [1, 2]]);
    document.text = 'b';
    expect([document.text, document.blob, document.tensor, document.uri]).toEqual(['b', undefined, undefined, 'u']);
    expect(() => new Document({ text: 'a', blob: new Uint8Array() })).toThrow('both text and blob');
  });

  it.each(['text', 'blob', 'content'] as const)('refuses other types for its %s', (key) => {
    const document = new Document({ text: 'a' });
    for (const wrong of [null, 42, { length: 1 }] as never[]) {
      expect(() => {
        document[key] = wrong;
      }).toThrow(TypeError);
    }
    expect(document.text).toBe('a');
  });

  it('updates chunks and matches at all depths', () => {
    const grandchild = new Document({ id: 'g' });
    const chunk = new Document({ id: 'c', chunks: [grandchild] });
    const match = new Document({ id: 'm', chunks: [new Document({ id: 'mc' })] });
    chunk.parentId = 'sent by somebody';
    const root = new Document({ id: 'r' });
    root.addChunks(chunk);
    root.addMatches(match);
    expect(chunk).toMatchObject({ parentId: 'r', granularity: 1, adjacency: 0 });
    expect(grandchild).toMatchObject({ parentId: 'c', granularity: 2 });
    expect(match).toMatchObject({ parentId: '', granularity: 0, adjacency: 1 });
    const part = new Document();
    part.granularity = 3;
    chunk.matches = [new Document(), part];
    expect(chunk.matches[0]).toMatchObject({ parentId: '', granularity: 0, adjacency: 1 });
    expect(part).toMatchObject({ granularity: 3, adjacency: 1 });
  });

  it('reports a document that contains itself', () => {
    const document = new Document();
    expect(() => document.addChunks(document)).toThrow('chunks');
    const other = new Document();
    expect(() => other.addMatches(other)).toThrow('matches');
  });

  it('is cloned without shared state', () => {
    const document = new Document({
      text: 'a',
      tags: { deep: { list: [1] } },
      embedding: new Float32Array([1]),
      chunks: [new Document({ text: 'c' })],
    });
    const [copy] = cloneDocuments([document]);
    expect(copy).toEqual(document);
    copy!.embedding!.buffer[0] = 1;
    ((copy!.tags.deep as { list: number[] }).list as number[]).push(2);
    copy!.chunks[0]!.text = 'changed';
    expect(document.embedding!.toList()).toEqual([1]);
    expect(document.tags).toEqual({ deep: { list: [1] } });
    expect(document.chunks[0]!.text).toBe('c');
  });
});

describe('an array', () => {
  it.each([
    [[1, 2], '<i8', [2]],
    [[1, 2.5], '<f8', [2]],
    [[[true], [false]], '|b1', [2, 1]],
    [[], '<f8', [0]],
    [[[], []], '<f8', [2, 0]],
    [[2 ** 60], '<f8', [1]],
  ])('of the list %j is %s', (list, dtype, shape) => {
    const array = NdArray.fromList(list);
    expect({ dtype: array.dtype, shape: array.shape, clsName: array.clsName }).toEqual({
      dtype,
      shape,
      clsName: 'numpy',
    });
    expect(array.buffer.length).toBe(shape.reduce((size, one) => size * one, 1) * (dtype === '|b1' ? 1 : 8));
    expect(NdArray.fromDense(array.dense!).toList()).toEqual(shape.includes(0) ? [] : list);
  });

  it.each([[[[1], [1, 2]]], [[1, [2]]], [[[1], 2]], [['a']], [[null]], [[true, 1]], [[{}]]])('is not %j', (list) => {
    expect(() => NdArray.fromList(list as never)).toThrow(TypeError);
  });

  it.each([
    ['<f2', [0, 60, 0, 192], [1, -2]],
    ['>f2', [60, 0, 192, 0], [1, -2]],
    ['<f2', [1, 0, 0, 124], [2 ** -24, Number.POSITIVE_INFINITY]],
    ['<f4', [0, 0, 128, 63, 0, 0, 0, 192], [1, -2]],
    ['>f4', [63, 128, 0, 0, 192, 0, 0, 0], [1, -2]],
    ['>f8', [63, 240, 0, 0, 0, 0, 0, 0, 192, 0, 0, 0, 0, 0, 0, 0], [1, -2]],
    ['|i1', [255, 1], [-1, 1]],
    ['<i2', [255, 255, 1, 0], [-1, 1]],
    ['>i2', [255, 255, 0, 1], [-1, 1]],
    ['<i4', [254, 255, 255, 255, 1, 0, 0, 0], [-2, 1]],
    ['>i8', [255, 255, 255, 255, 255, 255, 255, 255, 0, 0, 0, 0, 0, 0, 0, 1], [-1, 1]],
    ['|u1', [255, 1], [255, 1]],
    ['<u2', [255, 255, 1, 0], [65535, 1]],
    ['>u4', [0, 0, 1, 0, 0, 0, 0, 1], [256, 1]],
    ['<u8', [1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0], [1, 2]],
    ['|b1', [1, 0], [true, false]],
  ])('of dtype %s is read and forwarded unchanged', (dtype, bytes, list) => {
    const buffer = Uint8Array.from(bytes);
    const array = NdArray.fromDense({ buffer, shape: [2], dtype }, { clsName: 'torch' });
    expect(array.toList()).toEqual(list);
    expect(array.dense).toEqual({ buffer, shape: [2], dtype });
    expect(array.clsName).toBe('torch');
    expect([...array.toFloat64()]).toEqual(list.map(Number));
    expect([...array.toFloat32()]).toEqual(list.map((one) => Math.fround(Number(one))));
  });

  it('returns copies of its numbers at any byte offset', () => {
    const bytes = new Uint8Array(new Float32Array([1, 2]).buffer);
    const message = Uint8Array.from([9, ...bytes]);
    const array = NdArray.fromDense({ buffer: message.subarray(1), shape: [2], dtype: '<f4' });
    const numbers = array.toFloat32();
    expect([...numbers]).toEqual([1, 2]);
    numbers[0] = 5;
    expect(array.toList()).toEqual([1, 2]);
    expect(() => NdArray.fromDense({ buffer: bytes, shape: [3], dtype: '<f4' }).toFloat32()).toThrow('8 bytes');
  });

  it('is a bare number without dimensions and zeros without bytes', () => {
    expect(NdArray.fromDense({ buffer: Uint8Array.of(7), shape: [], dtype: '|u1' }).toList()).toBe(7);
    expect(NdArray.fromDense({ buffer: new Uint8Array(), shape: [2, 2], dtype: '<f4' }).toJson()).toBe('[[0,0],[0,0]]');
  });

  it('reports bytes that do not fit its shape or dtype', () => {
    const buffer = new Uint8Array(4);
    expect(() => NdArray.fromDense({ buffer, shape: [3], dtype: '<f4' }).toList()).toThrow('4 bytes');
    expect(() => NdArray.fromDense({ buffer, shape: [1], dtype: '|S4' }).toList()).toThrow('cannot be read');
    const claim = { buffer: new Uint8Array(), shape: [2 ** 31, 2 ** 31], dtype: '<f4' };
    expect(() => NdArray.fromDense(claim).toList()).toThrow('too large');
  });

  it('is written out if sparse', () => {
    const dense = (list: number[], shape: number[]) => NdArray.fromTyped(Int32Array.from(list), shape).dense!;
    const sparse = { indices: dense([0, 1, 1, 0], [2, 2]), values: dense([5, 6], [2]), shape: [2, 2] };
    expect(NdArray.fromSparse(sparse).toList()).toEqual([
      [0, 5],
      [6, 0],
    ]);
  });

  it('writes NaN and infinities as null', () => {
    expect(NdArray.fromTyped(new Float32Array([1, Number.NaN])).toJson()).toBe('[1,null]');
  });

  it('reflects changed bytes in its list', () => {
    const array = NdArray.fromList([true, false]);
    array.buffer[1] = 1;
    expect(array.toList()).toEqual([true, true]);
  });
});
