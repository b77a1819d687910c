import fc from 'fast-check';
import { expect, it } from 'vitest';
import { linesOf } from './jsonl.ts';

async function read(chunks: Iterable<Uint8Array>, maxLineBytes = 1_000): Promise<[number, string | undefined][]> {
  const lines: [number, string | undefined][] = [];
  for await (const { number, bytes } of linesOf(chunks, { maxLineBytes })) {
    lines.push([number, bytes && Buffer.from(bytes).toString('latin1')]);
  }
  return lines;
}

const bytes = (text: string) => Buffer.from(text, 'latin1');

it('yields the same lines for any chunking of the bytes', async () => {
  const texts = fc.array(fc.constantFrom('a', '{"b":1}', ' ', '\r', '\t', '\n', '\r\n', 'x'.repeat(40)), {
    maxLength: 40,
  });
  await fc.assert(
    fc.asyncProperty(texts, fc.array(fc.nat(60), { maxLength: 20 }), async (parts, cuts) => {
      const whole = bytes(parts.join(''));
      const chunks: Uint8Array[] = [];
      let from = 0;
      for (const cut of cuts) {
        chunks.push(whole.subarray(from, from + cut));
        from += cut;
      }
      chunks.push(whole.subarray(from));
      const expected = whole
        .toString('latin1')
        .split('\n')
        .map((line, index): [number, string | undefined] => {
          const text = line.endsWith('\r') ? line.slice(0, -1) : line;
          return [index + 1, line.length > 30 ? undefined : text];
        })
        .filter(([, text]) => text === undefined || /[^ \t\r]/.test(text));
      expect(await read(chunks, 30)).toEqual(expected);
    }),
    { seed: 8, numRuns: 200 },
  );
});

it('skips a byte order mark at the beginning', async () => {
  expect(await read([bytes('\xef\xbb\xbf{}\n\xef\xbb\xbf{}')])).toEqual([
    [1, '{}'],
    [2, '\xef\xbb\xbf{}'],
  ]);
  expect(await read([bytes('\xef\xbb\xbf\n')])).toEqual([]);
  expect(await read([])).toEqual([]);
});

it('does not buffer a line that is too long', async () => {
  const chunk = Buffer.alloc(1024 * 1024, 'x');
  function* endless() {
    for (let at = 0; at < 300; at++) yield chunk;
    yield bytes('\nshort');
  }
  const before = process.memoryUsage.rss();
  expect(await read(endless(), 2_000_000)).toEqual([
    [1, undefined],
    [2, 'short'],
  ]);
  expect(process.memoryUsage.rss() - before).toBeLessThan(100_000_000);
});
