import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { eventText } from '#http/sse.ts';
import { eventsOf, linesOf, type ServerEvent } from './events.ts';

const cut = () => new Error('cut');

/** Splits the bytes into pieces of the given sizes, which are used repeatedly. */
async function* pieces(bytes: Uint8Array, sizes: readonly number[]): AsyncGenerator<Uint8Array> {
  for (let at = 0, turn = 0; at < bytes.length; turn++) {
    const size = sizes[turn % sizes.length]!;
    yield bytes.subarray(at, at + size);
    at += size;
  }
}

async function all<T>(source: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const one of source) found.push(one);
  return found;
}

const read = (text: string, sizes = [65_536]) => all(eventsOf(pieces(new TextEncoder().encode(text), sizes), cut));

describe('events', () => {
  const text = fc.string({ unit: 'grapheme', maxLength: 40 });
  const sizes = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 5 });

  it('are parsed correctly wherever chunks end', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ title: text, content: text }), { maxLength: 6 }),
        sizes,
        async (data, cuts) => {
          const written = data.map((one) => eventText({ event: 'data', data: one })).join('');
          const found = await read(written, cuts);
          expect(found.map(({ data }) => JSON.parse(data))).toEqual(data);
          expect(found.every(({ event }) => event === 'data')).toBe(true);
        },
      ),
      { seed: 10, numRuns: 200 },
    );
  });

  const odd =
    '\uFEFF: ping\r\n\r\nevent: a\r\ndata: 1\r\ndata:2\r\n\r\ndata\rdata:  x\r\revent: lost\n\nid: 7\ndata: é\u2028日本\n\n:\n\n';
  const oddEvents: ServerEvent[] = [
    { event: 'a', data: '1\n2' },
    { event: 'message', data: '\n x' },
    { event: 'message', data: 'é\u2028日本' },
  ];

  it('follow the standard: comments, any line end, several data lines', async () => {
    expect(await read(odd)).toEqual(oddEvents);
    await fc.assert(
      fc.asyncProperty(sizes, async (cuts) => {
        expect(await read(odd, cuts)).toEqual(oddEvents);
      }),
      { seed: 10, numRuns: 300 },
    );
  });

  it('throw when the stream ends within an event', async () => {
    const whole = 'data: 1\n\ndata: 2\n\n';
    for (let at = 1; at < whole.length; at++) {
      const part = whole.slice(0, at);
      const isWhole = at === 9;
      if (isWhole) expect(await read(part)).toHaveLength(1);
      else if (part.endsWith('\n\n') || at === whole.length) expect(await read(part)).not.toHaveLength(0);
      else await expect(read(part)).rejects.toThrow('cut');
    }
  });

  it('may be very long, in chunks of any size', async () => {
    const long = 'long '.repeat(4_000_000);
    const [event] = await read(`data: ${long}\n\n`, [7_777]);
    expect(event?.data.length).toBe(long.length);
  });

  it('are many in one stream, which the consumer may leave early', async () => {
    let given = 0;
    async function* endless() {
      const chunk = new TextEncoder().encode('data: x\n\n');
      for (;;) {
        given++;
        yield chunk;
      }
    }
    const seen = new Set<string>();
    let count = 0;
    for await (const { data } of eventsOf(endless(), cut)) {
      seen.add(data);
      if (++count === 100_000) break;
    }
    expect([...seen]).toEqual(['x']);
    expect(given).toBe(100_000);
  });
});

it('lines: CRLF across chunks is one line end, and the last line needs none', async () => {
  const lines = (text: string, sizes: number[]) => all(linesOf(pieces(new TextEncoder().encode(text), sizes)));
  expect(await lines('a\r\nb\n\nc', [2, 1])).toEqual(['a', 'b', '', 'c']);
  expect(await lines('', [1])).toEqual([]);
  expect(await lines('a\r\n', [2])).toEqual(['a']);
});
