// Full run only: unpacks large archives.
import zlib from 'node:zlib';
import { strToU8, zipSync } from 'fflate';
import { describe, expect, it } from 'vitest';
import { faultIn } from '../parse.suite.ts';
import { openZip } from './zip.ts';

const text = (bytes: Uint8Array | undefined) => bytes && new TextDecoder().decode(bytes);

/** Writes a number at an offset from every occurrence of a signature. */
function patch(zip: Uint8Array, signature: number, offset: number, value: number, bytes: 2 | 4): Uint8Array {
  const copy = zip.slice();
  const view = new DataView(copy.buffer);
  let found = 0;
  for (let at = 0; at + 4 <= copy.length; at++) {
    if (view.getUint32(at, true) !== signature) continue;
    found += 1;
    if (bytes === 2) view.setUint16(at + offset, value, true);
    else view.setUint32(at + offset, value, true);
  }
  expect(found).toBeGreaterThan(0);
  return copy;
}

const CENTRAL = 0x02014b50;

/** An archive whose directory lists the same compressed bytes several times. */
function overlapping(content: Uint8Array, times: number): Uint8Array {
  const packed = zlib.deflateRawSync(content, { level: 1 });
  const local = Buffer.alloc(31);
  local.writeUInt32LE(0x04034b50, 0);
  local.writeUInt16LE(8, 8);
  local.writeUInt16LE(1, 26);
  const entries = Array.from({ length: times }, (_, n) => {
    const entry = Buffer.alloc(47);
    entry.writeUInt32LE(CENTRAL, 0);
    entry.writeUInt16LE(8, 10);
    entry.writeUInt32LE(zlib.crc32(content), 16);
    entry.writeUInt32LE(packed.length, 20);
    entry.writeUInt16LE(1, 28);
    entry.write(String(n), 46);
    return entry;
  });
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(times, 10);
  end.writeUInt32LE(47 * times, 12);
  end.writeUInt32LE(local.length + packed.length, 16);
  return Buffer.concat([local, packed, ...entries, end]);
}

describe('an archive', () => {
  const zip = zipSync({ 'a/One.txt': strToU8('one '.repeat(500)), 'zwölf.txt': [strToU8('stored'), { level: 0 }] });

  it('gives its entries by name, with or without regard to case', () => {
    const opened = openZip(zip);
    expect(opened.names).toEqual(['a/One.txt', 'zwölf.txt']);
    expect(opened.complete).toBe(true);
    expect(text(opened.read('a/One.txt'))).toBe('one '.repeat(500));
    expect(opened.text('A/ONE.TXT')).toHaveLength(2000);
    expect(opened.text('zwölf.txt')).toBe('stored');
    expect(opened.has('b')).toBe(false);
    expect(opened.read('../../etc/passwd')).toBeUndefined();
  });

  it('may have bytes before and after it', () => {
    const padded = Buffer.concat([Buffer.from('#!/bin/sh\n'), zip, Buffer.from('PK junk')]);
    const shifted = Buffer.concat([Buffer.from('#!/bin/sh\n'), zip]);
    expect(openZip(shifted).text('zwölf.txt')).toBe('stored');
    expect(openZip(padded).text('zwölf.txt')).toBe('stored');
  });

  it('of two entries with one name gives the later one', () => {
    const twice = Buffer.from(zipSync({ 'aa.txt': strToU8('first'), 'bb.txt': strToU8('second') }));
    for (let at = twice.indexOf('bb.txt'); at >= 0; at = twice.indexOf('bb.txt')) twice.write('aa.txt', at);
    const opened = openZip(twice);
    expect(opened.names).toEqual(['aa.txt']);
    expect(opened.text('aa.txt')).toBe('second');
  });

  it('is read without its central directory', () => {
    const cut = zip.subarray(0, zip.length - 60);
    const opened = openZip(cut);
    expect(opened.complete).toBe(false);
    expect(opened.text('a/One.txt')).toHaveLength(2000);
    expect(opened.text('zwölf.txt')).toBe('stored');
  });

  it('is read up to where it is truncated', () => {
    const noise = Array.from({ length: 20_000 }, (_, n) => `${(n * 7919) % 10007} `).join('');
    const long = zipSync({ 'first.txt': strToU8('whole'), 'long.txt': strToU8(noise) });
    const opened = openZip(long.subarray(0, long.length >> 1));
    expect(opened.text('first.txt')).toBe('whole');
    expect(faultIn(() => opened.read('long.txt'))).toBe('damaged');
    const salvaged = opened.salvage('long.txt')!;
    expect(salvaged.complete).toBe(false);
    expect(salvaged.bytes.length).toBeGreaterThan(noise.length / 4);
    expect(noise.startsWith(text(salvaged.bytes)!)).toBe(true);
  });

  it('with a broken byte is read up to there', () => {
    const noise = Array.from({ length: 20_000 }, (_, n) => `${(n * 7919) % 10007} `).join('');
    const broken = zipSync({ 'long.txt': strToU8(noise) });
    broken.fill(0xff, broken.length >> 1, (broken.length >> 1) + 200);
    const opened = openZip(broken);
    expect(faultIn(() => opened.read('long.txt'))).toBe('damaged');
    expect(opened.salvage('long.txt')!.complete).toBe(false);
    expect(opened.salvage('long.txt')!.bytes.length).toBeGreaterThan(1000);
  });

  it('with a wrong checksum is damaged', () => {
    const opened = openZip(patch(zip, CENTRAL, 16, 0x12345678, 4));
    expect(faultIn(() => opened.read('zwölf.txt'))).toBe('damaged');
    expect(text(opened.salvage('zwölf.txt')!.bytes)).toBe('stored');
  });
});

describe('a hostile archive', () => {
  it('that decompresses beyond the limit is too large, whatever sizes it declares', () => {
    const bomb = zipSync({ 'a.txt': new Uint8Array(30 * 1024 * 1024) });
    expect(bomb.length).toBeLessThan(40_000);
    expect(faultIn(() => openZip(bomb).read('a.txt'))).toBe('too large');
    expect(faultIn(() => openZip(patch(bomb, CENTRAL, 24, 10, 4)).read('a.txt'))).toBe('too large');
    expect(faultIn(() => openZip(bomb.subarray(0, bomb.length - 40)).salvage('a.txt'))).toBe('too large');
  });

  it('may have small entries of any ratio, and large ones of a modest ratio', () => {
    const small = openZip(zipSync({ 'a.txt': new Uint8Array(1_000_000) }));
    expect(small.read('a.txt')).toHaveLength(1_000_000);
    const steep = openZip(zipSync({ 'a.txt': new Uint8Array(2_000_000) }));
    expect(faultIn(() => steep.read('a.txt'))).toBe('too large');
  });

  it('is too large if its entries together are, even if they share their bytes', () => {
    const content = new Uint8Array(130 * 1024 * 1024);
    for (let at = 0; at < content.length; at += 512) content[at] = Math.imul(at, 2654435761) >>> 24;
    const zip = openZip(overlapping(content, 4));
    const read = () => zip.names.map((name) => zip.read(name)?.length);
    expect(zip.names).toHaveLength(4);
    expect(faultIn(read)).toBe('too large');
    // Entries that were counted once are not counted again.
    for (let n = 0; n < 2; n++) expect(zip.read('0')).toHaveLength(content.length);
  }, 120_000);

  it('is too large with too many entries', () => {
    const many = zipSync(Object.fromEntries(Array.from({ length: 10_001 }, (_, n) => [`${n}`, new Uint8Array(0)])));
    expect(faultIn(() => openZip(many))).toBe('too large');
    expect(faultIn(() => openZip(many.subarray(0, many.length - 100)))).toBe('too large');
  });

  it('that needs a password is reported as encrypted', () => {
    const zip = zipSync({ 'a.txt': strToU8('x') });
    expect(faultIn(() => openZip(patch(zip, CENTRAL, 8, 1, 2)).read('a.txt'))).toBe('encrypted');
    const wrapped = Buffer.concat([Buffer.from('d0cf11e0a1b11ae1', 'hex'), Buffer.from('EncryptedPackage', 'utf16le')]);
    expect(faultIn(() => openZip(wrapped))).toBe('encrypted');
  });

  it('packed in another way is unsupported', () => {
    const zip = zipSync({ 'a.txt': strToU8('x') });
    expect(faultIn(() => openZip(patch(zip, CENTRAL, 10, 14, 2)).read('a.txt'))).toBe('unsupported');
  });

  it('that is none is damaged', () => {
    for (const bytes of ['', 'PK', 'PK\x03\x04', 'hello world', '\xd0\xcf\x11\xe0old office'] as const) {
      expect(faultIn(() => openZip(Buffer.from(bytes, 'latin1')))).toBe('damaged');
    }
  });

  it('fails only with a DocumentError, however its bytes are changed', () => {
    const zip = zipSync({ 'a.txt': strToU8('some text '.repeat(20)), 'b.txt': [strToU8('b'), { level: 0 }] });
    let state = 1;
    const random = (below: number) => {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
      return state % below;
    };
    let read = 0;
    for (let round = 0; round < 3_000; round++) {
      const bytes = zip.slice(0, random(8) === 0 ? random(zip.length) : zip.length);
      for (let n = 1 + random(4); n > 0 && bytes.length > 0; n--) bytes[random(bytes.length)] = random(256);
      const fault = faultIn(() => {
        const opened = openZip(bytes);
        for (const name of opened.names) opened.salvage(name);
        read += opened.names.length;
      });
      expect(['none', 'damaged', 'encrypted', 'too large', 'unsupported']).toContain(fault);
    }
    expect(read).toBeGreaterThan(1_000);
  });
});
