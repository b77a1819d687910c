/** Which recognizer shows how a page is turned, and which is waited for. Both are fakes, so that their order is certain. */
import { expect, it, vi } from 'vitest';
import type { OcrLines } from './engine.ts';
import type { Corners, PpOcr } from './engines/pp-ocr/pp-ocr.ts';
import type { OcrLine } from './hocr.ts';
import { NO_RULES } from './image/ruling-lines.ts';
import { type OcrTools, readImage } from './read.ts';
import { readWithBoth } from './read-both.ts';

const SIZE = { width: 600, height: 400 };
const picture = new Uint8Array(1);

/** Twelve lines of the same three words, read this surely. */
const page = (confidence: number): OcrLines => ({
  ...SIZE,
  lines: Array.from({ length: 12 }, (_, row): OcrLine => {
    const [top, bottom] = [row * 30, row * 30 + 20];
    const words = ['quiet', 'river', 'valley'].map((text, at) => ({
      text,
      confidence,
      box: { left: at * 200, right: at * 200 + 190, top, bottom },
    }));
    return { box: { left: 0, right: 590, top, bottom }, size: 20, words };
  }),
});

const boxes = page(1).lines.map(
  ({ box: { left, right, top, bottom } }): Corners => ({
    topLeft: { x: left, y: top },
    topRight: { x: right, y: top },
    bottomRight: { x: right, y: bottom },
    bottomLeft: { x: left, y: bottom },
  }),
);

function recognizers({ first }: { first: (signal: AbortSignal) => Promise<OcrLines> }) {
  const engine = {
    name: 'first',
    supportsSparse: false,
    has: async () => true,
    recognize: vi.fn(async (_: Uint8Array, { signal }: { signal: AbortSignal }) => first(signal)),
  };
  const neural: PpOcr = {
    ...engine,
    name: 'second',
    find: async () => boxes,
    read: vi.fn(async (_, some) => page(0.99).lines.slice(0, some.length)),
    close: async () => {},
  };
  const linesRead = () => vi.mocked(neural.read).mock.calls.reduce((sum, [, some]) => sum + some.length, 0);
  const tools: OcrTools = {
    engine,
    neural,
    engineFor: async () => engine,
    prepare: async (_, turn) => ({
      picture,
      sideways: false,
      blank: false,
      rules: NO_RULES,
      pieces: [],
      preparation: { source: SIZE, upright: SIZE, turn, scale: 1, skew: 0, made: SIZE },
      lineHeight: 20,
    }),
    gather: () => Promise.reject(new Error('nothing was overlooked')),
    crop: async () => picture,
    languages: ['eng'],
    isAutomatic: true,
    hasTimeLeft: () => true,
    signal: new AbortController().signal,
  };
  return { tools, neural, engine, linesRead };
}

it('a clear first reading shows the orientation, and nothing is read twice', async () => {
  const { tools, neural, engine, linesRead } = recognizers({ first: async () => page(0.99) });
  const reading = await readWithBoth(picture, tools, neural);
  expect(reading.page.lines).toHaveLength(12);
  expect(linesRead()).toBe(0);
  expect(engine.recognize).toHaveBeenCalledTimes(1);
});

it('a page whose lines seem to run vertically is turned before it is read', async () => {
  const { tools, neural, engine, linesRead } = recognizers({ first: async () => page(0.99) });
  const prepare: OcrTools['prepare'] = async (given, turn) => ({
    ...(await tools.prepare(given, turn)),
    sideways: turn === 0,
  });
  const reading = await readWithBoth(picture, { ...tools, prepare }, neural);
  expect(reading.preparation.turn).toBe(90);
  expect(reading.page.lines).toHaveLength(12);
  expect(linesRead()).toBe(0);
  expect(engine.recognize).toHaveBeenCalledTimes(1);
});

it('PP-OCR finds the orientation if the first reading is unsure, and reads all lines', async () => {
  const { tools, neural, linesRead } = recognizers({ first: async () => page(0.7) });
  const reading = await readWithBoth(picture, tools, neural);
  expect(reading.page.lines).toHaveLength(12);
  expect(linesRead()).toBeGreaterThan(12);
});

it('PP-OCR does not wait for a slow first reading to find the orientation', async () => {
  let release = () => {};
  const isLooking = new Promise<void>((resolve) => {
    release = resolve;
  });
  const { tools, neural, linesRead } = recognizers({ first: () => isLooking.then(() => page(0.99)) });
  const read: PpOcr['read'] = async (...args) => {
    release();
    return neural.read(...args);
  };
  const reading = await readWithBoth(picture, tools, { ...neural, read });
  expect(reading.page.lines).toHaveLength(12);
  expect(linesRead()).toBeGreaterThan(0);
});

it('a failure of the first reading is reported after PP-OCR found the orientation', async () => {
  const { tools, neural, linesRead } = recognizers({ first: () => Promise.reject(new Error('lost')) });
  await expect(readWithBoth(picture, tools, neural)).rejects.toThrow('lost');
  expect(linesRead()).toBeGreaterThan(0);
});

it('a script that no recognizer knows is named in the answer', async () => {
  const { tools, neural } = recognizers({ first: async () => page(0.3) });
  const read: PpOcr['read'] = async (_, some) => page(0.3).lines.slice(0, some.length);
  const { notes } = await readWithBoth(picture, tools, { ...neural, read });
  expect(notes).toEqual([expect.stringContaining('The script of a page was not recognized')]);
});

it('a turned page is refused if there is no time to turn it, instead of being read upside down', async () => {
  const { tools, engine } = recognizers({ first: async () => page(0.5) });
  const alone = { ...tools, neural: undefined };
  const late = readImage(picture, { ...alone, hasTimeLeft: () => false });
  await expect(late).rejects.toMatchObject({
    name: 'DownstreamServiceFailureError',
    message: 'Text recognition had no time to turn this page',
  });
  expect(engine.recognize).toHaveBeenCalledTimes(1);
  await expect(readImage(picture, alone)).resolves.toBeDefined();
  expect(engine.recognize).toHaveBeenCalledTimes(5);
});
