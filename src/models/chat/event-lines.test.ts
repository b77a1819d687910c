import fc from 'fast-check';
import { expect, it } from 'vitest';
import { eventData } from './event-lines.ts';

async function* cut(bytes: Uint8Array, sizes: readonly number[]): AsyncGenerator<Uint8Array> {
  let at = 0;
  for (let turn = 0; at < bytes.length; turn++) {
    const size = sizes[turn % sizes.length]!;
    yield bytes.subarray(at, at + size);
    at += size;
  }
}

const read = async (text: string, sizes: readonly number[] = [text.length || 1]) => {
  const found: string[] = [];
  for await (const data of eventData(cut(Buffer.from(text), sizes))) found.push(data);
  return found;
};

it('yields the data of events', async () => {
  const text = ':hello\n\nevent: x\nid: 1\ndata: one\n\ndata:two\ndata:  three\n\nretry: 5\n\ndata\n\ndata: [DONE]\n\n';
  expect(await read(text)).toEqual(['one', 'two\n three', '', '[DONE]']);
});

it('accepts all three line endings', async () => {
  expect(await read('data: a\r\n\r\ndata: b\r\rdata: c\n\n')).toEqual(['a', 'b', 'c']);
});

it('yields a last event without an end', async () => {
  expect(await read('data: a\n\ndata: b')).toEqual(['a', 'b']);
});

it('yields the same events wherever the bytes are split', async () => {
  const line = fc.string({ unit: 'grapheme', maxLength: 20 }).map((text) => text.replace(/[\r\n\ufeff]/g, ''));
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(line, fc.constantFrom('\n', '\r\n', '\r')), { maxLength: 8 }),
      fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 6 }),
      async (events, sizes) => {
        const text = events.map(([data, end]) => `data: ${data}${end}${end}`).join('');
        expect(await read(text, sizes)).toEqual(events.map(([data]) => data));
      },
    ),
    { seed: 8, numRuns: 300 },
  );
});

it('reads a line that arrives in a million pieces', async () => {
  const text = `data: ${'x'.repeat(1_000_000)}\n\n`;
  expect((await read(text, [1]))[0]).toHaveLength(1_000_000);
});
