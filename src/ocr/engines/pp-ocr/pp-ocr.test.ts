import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createOcr } from '../../ocr.ts';
import { boxesOf, detectionInput, smallestRectangle } from './detect.ts';
import { cropCorners, scaleImage } from './picture.ts';
import { drawn, writePpOcr } from './pp-ocr.suite.ts';
import { createPpOcr, filesIn, inShares, type PpOcr } from './pp-ocr.ts';
import { cutLine, decodeLetters, lineOf, recognitionInput, widthOfCut } from './recognize.ts';

const LONG = 120_000;
const TIMEOUT_MS = 100_000;
const { signal } = new AbortController();
const floats = (...values: number[]) => Float32Array.from(values);

describe('the picture for detection', () => {
  it('has sides of whole steps, and levels as the network was trained', () => {
    const gray = { pixels: new Uint8Array(100 * 50).fill(255), width: 100, height: 50 };
    const { data, width, height } = detectionInput(gray);
    expect([width, height, data.length]).toEqual([96, 64, 3 * 96 * 64]);
    const whole = width * height;
    for (const [channel, expected] of [(1 - 0.485) / 0.229, (1 - 0.456) / 0.224, (1 - 0.406) / 0.225].entries()) {
      expect(data[channel * whole]).toBeCloseTo(expected, 5);
      expect(data[(channel + 1) * whole - 1]).toBeCloseTo(expected, 5);
    }
  });

  it('is made smaller when it is large', () => {
    const { width, height } = detectionInput({ pixels: new Uint8Array(4_000 * 2_000), width: 4_000, height: 2_000 });
    expect([width, height]).toEqual([1_920, 960]);
  });

  it('is scaled between the nearest pixels', () => {
    // A row of 0 and 100 at twice the width: values at quarters of the way, as OpenCV computes them.
    const row = { pixels: Uint8Array.of(0, 100), width: 2, height: 1 };
    expect([...scaleImage(row, 4, 1).pixels]).toEqual([0, 25, 75, 100]);
    expect([...scaleImage({ pixels: Uint8Array.of(0, 40, 80, 120), width: 4, height: 1 }, 2, 1).pixels]).toEqual([
      20, 100,
    ]);
  });
});

it('the probability of a digit includes that of the same digit in the other width', () => {
  const dictionary = ['2', '２', 'z'];
  const read = (...probabilities: number[]) => decodeLetters(floats(...probabilities), 4, dictionary);
  const [narrow] = read(0, 0.5, 0.375, 0.125);
  expect(narrow).toEqual({ text: '2', confidence: 0.875, step: 0 });
  expect(read(0, 0.375, 0.5, 0.125)[0]!.confidence).toBe(0.875);
  expect(read(0, 0.25, 0.25, 0.5)[0]).toEqual({ text: 'z', confidence: 0.5, step: 0 });
});

it('lines that two processes share are in the batches that one process makes', () => {
  const boxes = Array.from({ length: 27 }, (_, at) => {
    const [right, bottom] = [100 + ((at * 37) % 27) * 10, 20];
    return {
      topLeft: { x: 0, y: 0 },
      topRight: { x: right, y: 0 },
      bottomRight: { x: right, y: bottom },
      bottomLeft: { x: 0, y: bottom },
    };
  });
  const batchesOf = (indexes: readonly number[]) => {
    const sorted = indexes.toSorted((a, b) => widthOfCut(boxes[a]!) - widthOfCut(boxes[b]!));
    return Array.from({ length: Math.ceil(sorted.length / 6) }, (_, at) => sorted.slice(at * 6, at * 6 + 6).join());
  };
  const shares = inShares(boxes);
  expect(shares.map(({ length }) => length)).toEqual([15, 12]);
  expect(shares.flatMap(batchesOf).sort()).toEqual(batchesOf(boxes.map((_, at) => at)).sort());
});

describe('boxes', () => {
  const map = (width: number, height: number, probability: (x: number, y: number) => number) => ({
    data: Float32Array.from({ length: width * height }, (_, at) => probability(at % width, Math.floor(at / width))),
    width,
    height,
  });

  it('are the blobs of the map, widened by area times 1.5 over circumference, in pixels of the picture', () => {
    const blob = map(100, 60, (x, y) => (x >= 20 && x <= 60 && y >= 20 && y <= 30 ? 0.9 : 0.1));
    // The area is 40 x 10 between the centers of its outermost pixels, and is expanded by 400 * 1.5 / 100 = 6.
    expect(boxesOf(blob, { width: 100, height: 60 })).toEqual([
      {
        topLeft: { x: 14, y: 14 },
        topRight: { x: 66, y: 14 },
        bottomRight: { x: 66, y: 36 },
        bottomLeft: { x: 14, y: 36 },
      },
    ]);
    expect(boxesOf(blob, { width: 200, height: 180 })[0]!.bottomRight).toEqual({ x: 132, y: 108 });
  });

  it('are those that are sure and large enough', () => {
    const faint = map(100, 60, (x, y) => (x >= 20 && x <= 60 && y >= 20 && y <= 30 ? 0.5 : 0.1));
    expect(boxesOf(faint, { width: 100, height: 60 })).toEqual([]);
    const tiny = map(100, 60, (x, y) => (x >= 20 && x <= 21 && y === 20 ? 0.9 : 0.1));
    expect(boxesOf(tiny, { width: 100, height: 60 })).toEqual([]);
    expect(
      boxesOf(
        map(32, 32, () => 0.1),
        { width: 32, height: 32 },
      ),
    ).toEqual([]);
  });

  it('lie as their blobs do', () => {
    const angle = Math.PI / 6;
    const points = Array.from({ length: 41 * 11 }, (_, at) => {
      const [u, v] = [(at % 41) - 20, Math.floor(at / 41) - 5];
      return { x: 50 + u * Math.cos(angle) - v * Math.sin(angle), y: 50 + u * Math.sin(angle) + v * Math.cos(angle) };
    });
    const { topLeft, topRight, bottomLeft } = smallestRectangle(points);
    expect(Math.hypot(topRight.x - topLeft.x, topRight.y - topLeft.y)).toBeCloseTo(40, 6);
    expect(Math.hypot(bottomLeft.x - topLeft.x, bottomLeft.y - topLeft.y)).toBeCloseTo(10, 6);
    expect(Math.atan2(topRight.y - topLeft.y, topRight.x - topLeft.x)).toBeCloseTo(angle, 6);
  });

  it('are found in linear time in one blob of a million pixels', () => {
    const all = map(1_024, 1_024, () => 1);
    expect(boxesOf(all, { width: 1_024, height: 1_024 })).toHaveLength(1);
  });
});

describe('lines', () => {
  const box = (left: number, top: number, right: number, bottom: number) => ({
    topLeft: { x: left, y: top },
    topRight: { x: right, y: top },
    bottomRight: { x: right, y: bottom },
    bottomLeft: { x: left, y: bottom },
  });

  it('are cut out at one height, those that run downwards turned', () => {
    const pixels = Uint8Array.from({ length: 100 }, (_, at) => at);
    const gray = { pixels, width: 10, height: 10 };
    expect([...cropCorners(gray, box(2, 3, 5, 5), 3, 2).pixels]).toEqual([32, 33, 34, 42, 43, 44]);
    expect(cutLine(gray, box(0, 0, 10, 5), 5).picture).toMatchObject({ width: 10, height: 5 });
    const downwards = cutLine(gray, box(0, 0, 2, 10), 2).picture;
    expect(downwards).toMatchObject({ width: 10, height: 2 });
    // The first row is the right column from top to bottom.
    expect([...downwards.pixels.slice(0, 10)]).toEqual([1, 11, 21, 31, 41, 51, 61, 71, 81, 91]);
  });

  it('are filled up with the gray in the middle', () => {
    const white = { pixels: new Uint8Array(4 * 2).fill(255), width: 4, height: 2 };
    const { data, width } = recognitionInput([{ corners: box(0, 0, 4, 2), picture: white }], 2);
    expect([width, data.length]).toEqual([96, 3 * 2 * 96]);
    expect([...data.slice(0, 6)]).toEqual([1, 1, 1, 1, 0, 0]);
  });

  it('are decoded: blanks part, neighbors that are equal are one, the last class is the space', () => {
    const classes = 5;
    const steps = [1, 1, 0, 1, 4, 2, 3, 3];
    const probabilities = new Float32Array(steps.length * classes);
    for (const [at, best] of steps.entries()) probabilities[at * classes + best] = 0.8 + at / 100;
    const letters = decodeLetters(probabilities, classes, ['a', 'b', 'é']);
    expect(letters.map(({ text }) => text).join('')).toBe('aa bé');
    expect(letters.map(({ step }) => step)).toEqual([0, 3, 4, 5, 6]);
    expect(letters[1]!.confidence).toBeCloseTo(0.83, 5);
    expect(decodeLetters(floats(), 5, ['a'])).toEqual([]);
  });

  it('have words at the places where their letters were seen', () => {
    // Ink from 0 to 50 and from 100 to 200.
    const pixels = Uint8Array.from({ length: 200 * 20 }, (_, at) => (at % 200 >= 50 && at % 200 < 100 ? 255 : 0));
    const cut = { corners: box(100, 40, 300, 60), picture: { pixels, width: 200, height: 20 } };
    const letter = (text: string, step: number, confidence = 0.9) => ({ text, step, confidence });
    const letters = [letter('o', 0), letter('n', 4), letter(' ', 8), letter('e', 10), letter('s', 19, 0.7)];
    // The network has 40 steps over 400 pixels; the line is 200 pixels long.
    expect(lineOf(cut, { letters, steps: 40, width: 400 })).toEqual({
      box: { left: 100, top: 40, right: 300, bottom: 60 },
      size: expect.closeTo(14.4, 5),
      words: [
        { text: 'on', box: { left: 100, top: 40, right: 150, bottom: 60 }, confidence: 0.9 },
        { text: 'es', box: { left: 200, top: 40, right: 300, bottom: 60 }, confidence: 0.8 },
      ],
    });
    expect(lineOf(cut, { letters: [], steps: 40, width: 400 })).toBeUndefined();
  });
});

describe('the engine', () => {
  let dir: string;
  let engine: PpOcr;
  beforeAll(async () => {
    dir = await mkdtemp(path.join(os.tmpdir(), 'lectern-pp-ocr-'));
    await writePpOcr(dir);
    engine = createPpOcr(filesIn(dir), TIMEOUT_MS);
  });
  afterAll(async () => {
    await engine.close();
    await rm(dir, { recursive: true });
  });
  const options = { languages: ['eng'], segmentation: 'page', signal } as const;

  it(
    'finds lines and reads them',
    async () => {
      const picture = drawn([
        { text: 'ABCACAB', left: 60, top: 60 },
        { text: 'CACABAC', left: 60, top: 200 },
        { text: 'BCA', left: 600, top: 330 },
      ]);
      const { width, height, lines } = await engine.recognize(picture, options);
      expect([width, height]).toEqual([960, 480]);
      expect(lines.map(({ words }) => words.map(({ text }) => text))).toEqual([['ABCACAB'], ['CACABAC'], ['BCA']]);
      const { left, right, top, bottom } = lines[0]!.words[0]!.box;
      for (const [at, expected] of [
        [left, 60],
        [right, 384],
        [(top + bottom) / 2, 78],
      ] as const)
        expect(Math.abs(at - expected)).toBeLessThan(30);
      expect(lines[0]!.words[0]!.confidence).toBeGreaterThan(0.9);
    },
    LONG,
  );

  it(
    'finds nothing on a blank picture',
    async () => {
      expect((await engine.recognize(drawn([]), options)).lines).toEqual([]);
    },
    LONG,
  );

  it(
    'reads in place of Tesseract',
    async () => {
      const ocr = createOcr({ modelDir: dir, tesseract: 'none', languages: ['eng'], timeoutMs: TIMEOUT_MS })!;
      try {
        const { text } = await ocr.read(drawn([{ text: 'ABCACAB', left: 60, top: 60 }]), { signal });
        expect(ocr.name).toBe('pp-ocr');
        expect(text).toBe('ABCACAB');
      } finally {
        await ocr.close();
      }
    },
    LONG,
  );

  it('says what is not in its folder', () => {
    expect(() => filesIn(path.join(dir, 'none'))).toThrow(/ocrModelDir: folder .* does not exist/);
    expect(() => filesIn(os.tmpdir())).toThrow(/must contain exactly one graph for detection/);
  });

  it(
    'fails on files that are no networks',
    async () => {
      const broken = await mkdtemp(path.join(os.tmpdir(), 'lectern-pp-ocr-'));
      for (const name of ['det.onnx', 'rec.onnx', 'dict.txt']) await writeFile(path.join(broken, name), 'not a graph');
      const other = createPpOcr(filesIn(broken), TIMEOUT_MS);
      await expect(other.recognize(drawn([]), options)).rejects.toMatchObject({
        name: 'DownstreamServiceFailureError',
      });
      await other.close();
      await rm(broken, { recursive: true });
    },
    LONG,
  );
});
