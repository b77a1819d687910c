import { describe, expect, it } from 'vitest';
import { faultIn } from '../parse.suite.ts';
import { writeOle } from './ole.suite.ts';
import { openOle } from './ole.ts';

const text = (value: string) => new Uint8Array(Buffer.from(value));
const long = new Uint8Array(10_000).map((_, at) => at % 251);

describe('an OLE file', () => {
  const bytes = writeOle({ short: text('kiln'), long, Folder: { inner: text('clay'), Deeper: { last: text('ash') } } });

  it('has streams and storages, found by name without regard to case', () => {
    const root = openOle(bytes);
    expect(Buffer.from(root.stream('SHORT')!.read()).toString()).toBe('kiln');
    expect(root.stream('long')!.read()).toEqual(long);
    const folder = root.storage('folder')!;
    expect(Buffer.from(folder.stream('inner')!.read()).toString()).toBe('clay');
    expect(Buffer.from(folder.storage('Deeper')!.stream('last')!.read()).toString()).toBe('ash');
    expect(root.stream('inner')).toBeUndefined();
  });

  it('is read as far as possible, or refused, if it is cut off or changed anywhere', () => {
    const readAll = (changed: Uint8Array) => {
      const root = openOle(changed);
      for (const storage of [root, ...root.storages]) for (const stream of storage.streams) stream.read();
    };
    for (let length = 0; length < bytes.length; length += 100) {
      expect(['none', 'damaged', 'too large']).toContain(faultIn(() => readAll(bytes.subarray(0, length))));
    }
    for (let at = 0; at < bytes.length; at += 7) {
      const changed = bytes.slice();
      changed[at] = 0xff - changed[at]!;
      expect(['none', 'damaged', 'too large']).toContain(faultIn(() => readAll(changed)));
    }
  });
});

describe('a hostile OLE file', () => {
  const bytes = writeOle({ a: long, b: long, c: text('x') });
  const view = (copy: Uint8Array) => new DataView(copy.buffer, copy.byteOffset, copy.byteLength);

  it('with cyclic chains of sectors is bounded by its size', () => {
    const copy = bytes.slice();
    const fat = (view(copy).getUint32(0x4c, true) + 1) * 512;
    // Each sector is its own successor.
    for (let n = 0; n < 60; n++) view(copy).setUint32(fat + n * 4, n, true);
    const stream = openOle(copy).streams[0];
    expect(stream?.read().length ?? 0).toBeLessThanOrEqual(copy.length);
  });

  it('with cyclic directories lists each entry once', () => {
    const copy = bytes.slice();
    const directory = (view(copy).getUint32(0x30, true) + 1) * 512;
    for (let n = 1; n <= 3; n++) {
      view(copy).setUint32(directory + n * 128 + 68, 1, true);
      view(copy).setUint32(directory + n * 128 + 72, (n % 3) + 1, true);
      view(copy).setUint32(directory + n * 128 + 76, 0, true);
    }
    expect(openOle(copy).streams).toHaveLength(3);
  });

  it('whose streams share sectors may not be read many times over', () => {
    const many = writeOle(
      Object.fromEntries(Array.from({ length: 200 }, (_, n) => [`s${n}`, n === 0 ? long : text('x')])),
    );
    const copy = many.slice();
    const directory = (view(copy).getUint32(0x30, true) + 1) * 512;
    const start = view(copy).getUint32(directory + 128 + 116, true);
    for (let n = 2; n <= 200; n++) {
      view(copy).setUint32(directory + n * 128 + 116, start, true);
      view(copy).setUint32(directory + n * 128 + 120, long.length, true);
    }
    const readAll = () => openOle(copy).streams.map((stream) => stream.read().length);
    expect(faultIn(readAll)).toBe('too large');
  });
});
