import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { decodeContent, parseContentEncoding } from './content-encoding.ts';

const TEXT = Array.from({ length: 400 }, (_, at) => `line ${at * 7919}`).join('\n');

/** Decodes the bytes in pieces of `size`. Returns the text, and the error thrown at the end, if any. */
async function read(header: string, bytes: Uint8Array, size = bytes.length || 1) {
  async function* pieces() {
    for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
  }
  const parts: Uint8Array[] = [];
  let failure: unknown;
  try {
    for await (const part of decodeContent(pieces(), parseContentEncoding(header)!)) parts.push(part);
  } catch (error) {
    failure = error;
  }
  return { text: Buffer.concat(parts).toString('utf8'), failure };
}

const gzipWith = (flags: number, fields: Uint8Array, text = TEXT) => {
  const packed = gzipSync(text);
  const header = Buffer.from(packed.subarray(0, 10));
  header[3] = flags;
  return Buffer.concat([header, fields, packed.subarray(10)]);
};

const ENCODERS = { gzip: gzipSync, deflate: deflateSync, br: brotliCompressSync } as const;
const ENTRIES = Object.entries(ENCODERS);

describe.each([3, 500, 1e6])('in pieces of %i bytes', (size) => {
  test.each(ENTRIES)('%s with trailing bytes', async (name, encode) => {
    for (const tail of ['garbage after the end', '\0'.repeat(40), '\x1f', '\n']) {
      const { text, failure } = await read(name, Buffer.concat([encode(TEXT), Buffer.from(tail, 'latin1')]), size);
      expect({ isWhole: text === TEXT, failure }).toEqual({ isWhole: true, failure: undefined });
    }
  });

  test('raw deflate with trailing bytes', async () => {
    const { text, failure } = await read('deflate', Buffer.concat([deflateRawSync(TEXT), Buffer.from('tail')]), size);
    expect({ isWhole: text === TEXT, failure }).toEqual({ isWhole: true, failure: undefined });
  });

  test('gzip with every optional header field', async () => {
    const fields = Buffer.from('\x03\0abcname\0comment\0\x12\x34', 'latin1');
    const { text, failure } = await read('gzip', gzipWith(0x1e, fields), size);
    expect({ isWhole: text === TEXT, failure }).toEqual({ isWhole: true, failure: undefined });
  });

  test('gzip with several members', async () => {
    const members = Buffer.concat(['one ', 'two ', 'three'].map((text) => gzipSync(text)));
    expect(await read('gzip', members, size)).toEqual({ text: 'one two three', failure: undefined });
  });

  test.each(ENTRIES)('truncated %s returns the decoded part and an error', async (name, encode) => {
    const bytes = encode(TEXT);
    const { text, failure } = await read(name, bytes.subarray(0, bytes.length - 200), size);
    expect(failure).toBeInstanceOf(Error);
    expect(text.length).toBeGreaterThan(TEXT.length / 4);
    expect(TEXT.startsWith(text.replace(/\ufffd+$/, ''))).toBe(true);
  });

  test.each([...Object.keys(ENCODERS), 'zstd', 'gzip, br', 'foo', 'UTF-8', 'gzip, foo'])(
    'unencoded text labeled %s',
    async (name) => {
      for (const text of [
        TEXT,
        '<p>Few words.</p>',
        '\ufeff<p>Few words.</p>',
        '<p>Grüße und mehr</p>',
        `<p>${'Grüße, '.repeat(100)}`,
      ]) {
        expect(await read(name, Buffer.from(text), size)).toEqual({ text, failure: undefined });
      }
    },
  );

  test('an unencoded file labeled gzip', async () => {
    const bytes = Buffer.from('%PDF-1.7\n\0\x01\x02');
    expect(await read('gzip', bytes, size)).toEqual({ text: bytes.toString(), failure: undefined });
  });

  test.each(['foo', 'aes128gcm', 'gzip, foo', 'foo, gzip'])('bytes with the unsupported encoding %s', async (name) => {
    const { text, failure } = await read(name, gzipSync(TEXT), size);
    expect({ text, failure }).toEqual({
      text: '',
      failure: expect.objectContaining({
        name: 'AssertionFailureError',
        message: 'The content encoding of the target is not supported',
      }),
    });
  });

  test('a wrong or missing checksum', async () => {
    const packed = gzipSync(TEXT);
    for (const bytes of [packed.subarray(0, -8), Buffer.concat([packed.subarray(0, -8), Buffer.alloc(8)])]) {
      const { text, failure } = await read('gzip', bytes, size);
      expect({ isWhole: text === TEXT, failure }).toEqual({ isWhole: true, failure: undefined });
    }
    const { text, failure } = await read('deflate', deflateSync(TEXT).subarray(0, -4), size);
    expect({ isWhole: text === TEXT, failure }).toEqual({ isWhole: true, failure: undefined });
  });
});

test.each(Object.keys(ENCODERS))('an empty body labeled %s is empty', async (name) => {
  expect(await read(name, Buffer.alloc(0))).toEqual({ text: '', failure: undefined });
});

test('more than three encodings are refused', () => {
  expect(parseContentEncoding('gzip, br, deflate')).toEqual(['gzip', 'br', 'deflate']);
  expect(parseContentEncoding('identity, X-GZIP, none,')).toEqual(['gzip']);
  expect(parseContentEncoding('gzip, gzip, gzip, gzip')).toBeUndefined();
});
