/** Entry point of the process that runs the PP-OCR networks: finds the lines of an image, and reads lines. */
import { readFile } from 'node:fs/promises';
import type { InferenceSession } from 'onnxruntime-node';
import { openAnyRuntime } from '#onnx-runtime.ts';
import type { OcrLine } from '../../hocr.ts';
import type { Gray } from '../../image/ink.ts';
import { boxesOf, detectionInput } from './detect.ts';
import type { Corners } from './picture.ts';
import {
  type CutLine,
  cutLine,
  decodeLetters,
  LINE_HEIGHT,
  LINES_AT_ONCE,
  lineOf,
  recognitionInput,
} from './recognize.ts';

export type PpOcrTask = {
  readonly files: PpOcrFiles;
  /** A gray PNG. */
  readonly picture: Uint8Array;
  readonly threads: number;
} & (
  | { readonly do: 'find'; readonly lineHeight: number | undefined }
  | { readonly do: 'read'; readonly boxes: readonly Corners[] }
);

/** Absolute paths. */
export interface PpOcrFiles {
  readonly detection: string;
  readonly recognition: string;
  /** One character per line. */
  readonly dictionary: string;
}

export type PpOcrResult =
  | { readonly width: number; readonly height: number; readonly boxes: readonly Corners[] }
  /** One for each box; `undefined` where nothing was read. */
  | { readonly lines: readonly (OcrLine | undefined)[] };

interface Recognition extends Network {
  readonly dictionary: readonly string[];
  readonly lineHeight: number;
}

interface Network {
  run(data: Float32Array, dims: readonly number[]): Promise<Output>;
}

interface Output {
  readonly data: Float32Array;
  readonly dims: readonly number[];
}

let detection: Promise<Network> | undefined;
let recognition: Promise<Recognition> | undefined;

export default async function work(task: PpOcrTask): Promise<PpOcrResult> {
  const gray = await grayOf(task.picture);
  if (task.do === 'read') {
    recognition ??= openRecognition(task.files, task.threads);
    return { lines: await readLines(gray, task.boxes, await recognition) };
  }
  detection ??= openSession(task.files.detection, task.threads).then(networkOf);
  const seen = detectionInput(gray, task.lineHeight);
  const map = await (await detection).run(seen.data, [1, 3, seen.height, seen.width]);
  const [height = 0, width = 0] = map.dims.slice(-2);
  return { width: gray.width, height: gray.height, boxes: boxesOf({ data: map.data, width, height }, gray) };
}

async function readLines(gray: Gray, boxes: readonly Corners[], network: Recognition) {
  const cuts = boxes
    .map((box, index) => ({ index, cut: cutLine(gray, box, network.lineHeight) }))
    .sort((a, b) => a.cut.picture.width - b.cut.picture.width);
  const lines = new Array<OcrLine | undefined>(boxes.length).fill(undefined);
  for (let at = 0; at < cuts.length; at += LINES_AT_ONCE) {
    const batch = cuts.slice(at, at + LINES_AT_ONCE);
    const read = await readBatch(
      batch.map(({ cut }) => cut),
      network,
    );
    for (const [place, { index }] of batch.entries()) lines[index] = read[place];
  }
  return lines;
}

async function readBatch(cuts: readonly CutLine[], network: Recognition) {
  const { dictionary, lineHeight } = network;
  const { data, width } = recognitionInput(cuts, lineHeight);
  const answer = await network.run(data, [cuts.length, 3, lineHeight, width]);
  const [, steps = 0, classes = 0] = answer.dims;
  // The blank, the dictionary, and possibly a space.
  if (classes !== dictionary.length + 1 && classes !== dictionary.length + 2)
    throw new Error(
      `the recognition network has ${classes - 1} characters, but the dictionary has ${dictionary.length}`,
    );
  return cuts.map((cut, at) => {
    const own = answer.data.subarray(at * steps * classes, (at + 1) * steps * classes);
    return lineOf(cut, { letters: decodeLetters(own, classes, dictionary), steps, width });
  });
}

interface Opened {
  readonly session: InferenceSession;
  readonly tensor: (data: Float32Array, dims: readonly number[]) => import('onnxruntime-node').Tensor;
}

async function openSession(file: string, threads: number): Promise<Opened> {
  const { openGraph, Tensor } = await openAnyRuntime();
  const session = await openGraph(file, {
    executionProviders: ['cpu'],
    intraOpNumThreads: threads,
    interOpNumThreads: 1,
    // Pages vary in shape, so a memory plan for one shape is rarely reused. The arena is kept: without it, the system
    // hands out and clears the memory of every layer anew, which takes five times as long on a page.
    enableMemPattern: false,
    extra: { session: { 'intra_op.allow_spinning': '0' } },
    logSeverityLevel: 4,
  });
  return { session, tensor: (data, dims) => new Tensor('float32', data, dims) };
}

const networkOf = ({ session, tensor }: Opened): Network => ({
  async run(data, dims) {
    const input = tensor(data, dims);
    const [name = ''] = session.outputNames;
    const output = (await session.run({ [session.inputNames[0]!]: input }, [name]))[name]!;
    try {
      if (!(output.data instanceof Float32Array))
        throw new Error(`the network returned ${output.type} instead of float32`);
      return { data: output.data.slice(), dims: output.dims };
    } finally {
      output.dispose();
      input.dispose();
    }
  },
});

async function openRecognition(files: PpOcrFiles, threads: number): Promise<Recognition> {
  const [opened, text] = await Promise.all([
    openSession(files.recognition, threads),
    readFile(files.dictionary, 'utf8'),
  ]);
  return {
    ...networkOf(opened),
    dictionary: text.replace(/\r?\n$/, '').split(/\r?\n/),
    lineHeight: heightOf(opened.session) ?? LINE_HEIGHT,
  };
}

function heightOf({ inputMetadata }: InferenceSession): number | undefined {
  const [input] = inputMetadata;
  const height = input && 'shape' in input ? input.shape[2] : undefined;
  return typeof height === 'number' && height > 0 ? height : undefined;
}

async function grayOf(picture: Uint8Array): Promise<Gray> {
  const { default: sharp } = await import('sharp');
  sharp.concurrency(1);
  sharp.cache(false);
  const { data, info } = await sharp(picture, { limitInputPixels: 100_000_000 })
    .toColorspace('b-w')
    .extractChannel(0)
    .raw()
    .toBuffer({ resolveWithObject: true });
  return { pixels: data, width: info.width, height: info.height };
}
