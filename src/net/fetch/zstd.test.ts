import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { unzstd } from './zstd.ts';

/**
 * Compressed by the reference program: at the best level with a checksum; at a fast level with a window of 512 KiB;
 * from a pipe; and with a window of 128 MiB.
 */
const LINES = Array.from(
  { length: 400 },
  (_, i) => `line ${(i * 7919) % 1000} of ${i % 7 ? 'words' : 'more words'}\n`,
).join('');
const BEST =
  'KLUv/WQTHGUYACpGNAgWoKeSA4AIaVOE+AGA+YpIuSspvOJmDIYAeQB5ACGSjSF6Vy6cNUgzB0eCUsfeGRNhVOjeqAhX/9XIQoS0kTCFZbi65/cMg0jbQsRDKhR2dfDv6QNHMcWIyYbFD8cNlWwjZ1WZFw9zCabYhUOXOT2lQ9dmFh6qTBirBPNub5lvgsJI3hgRIuKwrunHRwMAQYADBwkKDA4cFCgQcFAQCgwMDCAQDuH6GiITQz83LjJjUDWdHbzEUB1b5yYiTBS4M1oRc28Yfz6iEJNiE2EhGa3s8f3hBNG0sLiUIh0d/k4deMUUIxa5RlgfGTO0Em+PMPJhRd4e5hEsIhcNWcb0S8elGYVPncQooXxbW/5NGFnjIkIkHKlp9uHRQxh91sG614eMjEG93F1iJkHUcG7QEqemM/apiYWFwh6lSDk33P87IyEkbbNwCIXBqp7eHj7IaAuKSzpKdOLAn9MGWvFpYkZMqjHrE+NQSro5gvzsVDw9bL7gEGXBUGVKu7xjrplwqZtETCSQZ1uLv0+YMCOPEaLg1GLy0VF6V4dcNr2ry2YRpJGZwUqYeuf2nBMKm0LsERURcm2w7/cjE0LaKDxhMKTy8O7QQbTFpaKsC4dfpgyswtNjLh6yIWufjSNUJNwawXKzr4z3oLmCJ8ZCQpQh3dKOXzMz4aomi4UE4aWlpZ8nPMzlGSMkGmd1mPLgqCGBkaghCI3ffwPRrkQKByEECMEKQW/GBwNM9dJITMyT2+p7N3xK8BcI6Nd8ncD9uc2iq6NxKSVhUgzxEKUxxeEsfSrdoPwqegZ9f5C9xw5QI461XxU7nr03uGG8RIFkv8SBIW79BLK6pF+/gRhf35uXvaLgpoQxOWWY4UQSxqorKQs3qjX+NIYUleiGD/nHvI2Mu1WbLq2Lwem+DQtDfwX7JbPuG6i6Pnr1YOAfjE7dG9in5gjztVCoi4uT9Vgbkjr5CgO93Wpt6b2BIZBNQxUxbFwoXDWr1nfqYKvKhOJK8Zle+hn1fvoGYswVIgEFnoGQ0kUKWSoAFde+CsXlSaY=';
const FAST =
  'KLUv/QRI9RsA9mZOFKCpcoC6WV7aAMB4k2xZkRTWYXMEVABFAEIAI07iKLyWwrA6tYjjm1ckMY8/xDwOriqj9bmnpq7N7HBKYlFO4uDe8pjNQYeRvJVkhDoVi+vzAwiG0RgEDggKABQCEhAWDAIJCAaGAQTDwSBwQFAQH2mMivgbq2NMuBVaP8xHGIqtB8ppiUcn8tjvsJKM7L0cxmHVQXYRxze/aGIHUopN0I1KadHnnh5C2nYgz5BoVCY++JY3DVYyYvcxk8ZoxR+NrPgfbYyKuOdojFb80ciK/8toY1TEn9EYrXg/zIQ4cehoKfLY72hjVMQ9ZzRGVHwe5iMaGRU7F3F8ozGi4n+o7cBTIjo5+JbHSGO04vjmGiMq/kcbo2J/Drq8kqFOLTWv0RgPach8+NxTbYyK/ZHGaMUfjREV/6ONAYHTqOF4zvvfAXGGEsgh8QERNCBhjAglqCUHFwUuvT+sYwcNpDvTCg0aCXu0uAmmzSia20cXRm9ps6iR0FDkSCCjqtHR9+jhWKbjDUyzO1pdRT4n+lg22plM2sQRjDjNKZh3S1oPBelyWqsB+CcnLTLhtHmPTuukD6S3ZF3kSFA4ZlxgIzrto4GQNguClE1zNxLjkAQ2ajpBWiIEi5r2Kxx1Ia1hd3Q1rcUA/JORFplo2q5gXiNdHJ0+o+dsmc4YzHv10askTJ9TNP1o3GhTR/MKAQnTTgaePQ2XRgVKj5YIwSLT/oVzXUdrmIwumtIaBvSaZbSyJCxtUsB+M5q86NHepTMG815t9CrJ0ncE82+o89Zo9OjSWKbzBvPy0RemjO0ZXbXo9gVoa6K3quizpDOoNK8gv65oURekR2CW9BhKG4uW+IEBpX0I511FsxO9ArGlJwaZV2306MjS5xTN9buBaP/QIaOBGZE4jZ29YKQOnVqJFppM2vyBOTaiubPMh38n0s4yasoWzcfpA0pzCuZz0QPfF84fGCC9Nch01aGHVyB9VzCqh65Cp0MvskE6YzDv1UOvkiB9DtFcnxsTbRaGeQgq7VThNHbyuoiITOX5nDsCq0Obu0emCSg29qjmcnlOuwHrOeacc0TwKKQNXn0uz+W71RW71zifj//T5xhHmEVI4FhY4BCk8nzO9QWtDm3mfkBlSHwUoCVnYZrL5fH9Z0n24Nl5Bbz0fD7PaUdgPcfOFc/njm/4i4Y0r+MfpYlVxeVJpg==';
const LOREM = 'lorem ipsum '.repeat(50_000);
const PIPED =
  'KLUv/QBYpAAAYGxvcmVtIGlwc3VtIAEA8f/PSxJMAAAIcwEA/P85EAJMAAAIbQEA/P85EAJMAAAIbAEA/P85EAJNAAAIcwEAvCc5EAI=';
const WIDE =
  'KLUv/QSIpAAAYGxvcmVtIGlwc3VtIAEA8f/PSxJMAAAIcwEA/P85EAJMAAAIbQEA/P85EAJMAAAIbAEA/P85EAJNAAAIcwEAvCc5EAKnKhKS';

const decodeBase64 = (base64: string) => Buffer.from(base64, 'base64');

async function* inPieces(bytes: Uint8Array, size: number) {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

/** Returns the decoded bytes, and the error if there was one. */
async function decode(bytes: Uint8Array, pieceSize = bytes.length || 1, maxBytes = Number.POSITIVE_INFINITY) {
  const pieces: Uint8Array[] = [];
  let length = 0;
  try {
    for await (const piece of unzstd(inPieces(bytes, pieceSize))) {
      pieces.push(piece);
      length += piece.length;
      if (length > maxBytes) break;
    }
    return { bytes: Buffer.concat(pieces), error: undefined };
  } catch (error) {
    return { bytes: Buffer.concat(pieces), error: error as Error };
  }
}

/** A frame without a checksum (RFC 8878, section 3.1.1), with a window of 1 KiB times a power of two. */
const frame = (blocks: readonly Buffer[], windowLog = 10) =>
  Buffer.concat([Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0, (windowLog - 10) << 3]), ...blocks]);
const blockHeader = (isLast: boolean, kind: number, size: number) => {
  const word = Number(isLast) | (kind << 1) | (size << 3);
  return Buffer.from([word & 0xff, (word >> 8) & 0xff, word >> 16]);
};
const raw = (text: string, isLast = false) => Buffer.concat([blockHeader(isLast, 0, text.length), Buffer.from(text)]);
const run = (byte: number, count: number, isLast = false) =>
  Buffer.concat([blockHeader(isLast, 1, count), Buffer.from([byte])]);

describe('valid data', () => {
  test.each([
    [BEST, LINES],
    [FAST, LINES],
    [PIPED, LOREM],
  ])('%.20s is decoded in pieces of any size', async (base64, text) => {
    for (const size of [1, 7, 100, 10_000]) {
      const { bytes, error } = await decode(decodeBase64(base64), size);
      expect(error).toBeUndefined();
      expect(bytes.toString() === text).toBe(true);
    }
  });

  test('is decoded over several frames, without skippable frames', async () => {
    const skippable = Buffer.from([0x53, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3]);
    const all = Buffer.concat([
      decodeBase64(BEST),
      skippable,
      frame([raw('a'), raw('', true)]),
      frame([run(98, 3, true)]),
    ]);
    for (const size of [1, 5, all.length]) {
      const { bytes, error } = await decode(all, size);
      expect([bytes.toString(), error]).toEqual([`${LINES}abbb`, undefined]);
    }
  });

  test('is decoded for any text in any blocks', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 60 }), { maxLength: 12 }),
        fc.integer({ min: 1, max: 40 }),
        async (texts, size) => {
          const all = frame([...texts.map((text) => raw(text)), raw('end', true)]);
          expect((await decode(all, size)).bytes.toString()).toBe(`${texts.join('')}end`);
        },
      ),
      { seed: 7, numRuns: 200 },
    );
  });
});

describe('invalid data', () => {
  test('that ends early yields the decoded part', async () => {
    const { bytes, error } = await decode(frame([raw('the first of two '), raw('second', true)]).subarray(0, -2));
    expect([bytes.toString(), error?.message]).toEqual(['the first of two ', 'invalid Zstandard data: truncated']);
  });

  test.each([
    ['nothing', Buffer.alloc(0)],
    ['plain text', Buffer.from('plain text that is not compressed')],
    ['a window of 128 MiB', decodeBase64(WIDE)],
    ['a window of 2 TiB', frame([raw('x', true)], 41)],
    ['a block of a kind that does not exist', frame([blockHeader(true, 3, 1)])],
    ['a block that is too large', frame([blockHeader(true, 0, 128 * 1024 + 1)])],
    ['a dictionary', Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 1, 0, 9, 1, 0, 0])],
    ['garbage behind it', Buffer.concat([frame([raw('x', true)]), Buffer.from('garbage')])],
  ])('with %s is an error', async (_, bytes) => expect((await decode(bytes)).error).toBeInstanceOf(Error));

  test('with any changed byte ends in bytes or an error', async () => {
    const original = decodeBase64(FAST);
    await fc.assert(
      fc.asyncProperty(fc.nat(original.length - 1), fc.integer({ min: 1, max: 255 }), async (at, change) => {
        const bytes = Buffer.from(original);
        bytes[at]! ^= change;
        const outcome = await decode(bytes, 64, 1_000_000);
        expect(outcome.bytes.length).toBeLessThan(1_200_000);
      }),
      { seed: 7, numRuns: 300 },
    );
  });

  test('that expands enormously is decoded block by block', async () => {
    const bomb = frame(
      Array.from({ length: 16_000 }, () => run(0, 128 * 1024)),
      17,
    );
    const before = process.memoryUsage().rss;
    const { bytes } = await decode(bomb, bomb.length, 8 * 1024 ** 2);
    expect(bytes.length).toBeLessThan(9 * 1024 ** 2);
    expect(process.memoryUsage().rss - before).toBeLessThan(100 * 1024 ** 2);
  });

  test('with a flood of tiny blocks in a large window is refused', async () => {
    const flood = frame(
      Array.from({ length: 50_000 }, () => raw('x')),
      23,
    );
    const { bytes, error } = await decode(flood);
    expect(error?.message).toBe('invalid Zstandard data: too many small blocks');
    expect(bytes.length).toBeLessThan(1_000);
  });
});
