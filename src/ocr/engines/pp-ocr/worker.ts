/** Entry point of the process that runs the PP-OCR networks: an image in, its lines out. */
import { readFile } from 'node:fs/promises';
import type { InferenceSession } from 'onnxruntime-node';
import { openRuntime } from '#onnx-runtime.ts';
import type { OcrEngine } from '../../engine.ts';
import type { Gray } from '../../image/ink.ts';
import { boxesOf, detectionInput } from './detect.ts';
import { type CutLine, cutLine, decodeLetters, lineOf, recognitionInput } from './recognize.ts';

export interface PpOcrTask {
  readonly files: PpOcrFiles;
  /** A gray PNG. */
  readonly picture: Uint8Array;
  readonly threads: number;
}

/** Absolute paths. */
export interface PpOcrFiles {
  readonly detection: string;
  readonly recognition: string;
  /** One character per line. */
  readonly dictionary: string;
}

export type PpOcrResult = Awaited<ReturnType<OcrEngine['recognize']>>;

/** Batch size. Lines of similar length go into the same batch. */
const LINES_AT_ONCE = 6;
/** Input height of networks since version 3. Exports with a fixed height declare their own. */
const LINE_HEIGHT = 48;

interface Networks {
  readonly detection: Network;
  readonly recognition: Network;
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

let opening: Promise<Networks> | undefined;

export default async function work({ files, picture, threads }: PpOcrTask): Promise<PpOcrResult> {
  opening ??= open(files, threads);
  const { detection, recognition, dictionary, lineHeight } = await opening;
  const gray = await grayOf(picture);
  const seen = detectionInput(gray);
  const map = await detection.run(seen.data, [1, 3, seen.height, seen.width]);
  const [height = 0, width = 0] = map.dims.slice(-2);
  const boxes = boxesOf({ data: map.data, width, height }, gray);
  const cuts = boxes.map((box) => cutLine(gray, box, lineHeight)).sort((a, b) => a.picture.width - b.picture.width);
  const lines = [];
  for (let at = 0; at < cuts.length; at += LINES_AT_ONCE) {
    lines.push(...(await read(cuts.slice(at, at + LINES_AT_ONCE), { recognition, dictionary, lineHeight })));
  }
  lines.sort((a, b) => a.box.top - b.box.top || a.box.left - b.box.left);
  return { width: gray.width, height: gray.height, lines };
}

async function read(cuts: readonly CutLine[], networks: Omit<Networks, 'detection'>) {
  const { recognition, dictionary, lineHeight } = networks;
  const { data, width } = recognitionInput(cuts, lineHeight);
  const answer = await recognition.run(data, [cuts.length, 3, lineHeight, width]);
  const [, steps = 0, classes = 0] = answer.dims;
  // The blank, the dictionary, and possibly a space.
  if (classes !== dictionary.length + 1 && classes !== dictionary.length + 2)
    throw new Error(
      `the recognition network has ${classes - 1} characters, but the dictionary has ${dictionary.length}`,
    );
  return cuts.flatMap((cut, at) => {
    const own = answer.data.subarray(at * steps * classes, (at + 1) * steps * classes);
    return lineOf(cut, { letters: decodeLetters(own, classes, dictionary), steps, width }) ?? [];
  });
}

async function open({ detection, recognition, dictionary }: PpOcrFiles, threads: number): Promise<Networks> {
  const { InferenceSession, Tensor } = await openRuntime();
  const session = (file: string) =>
    InferenceSession.create(file, {
      executionProviders: ['cpu'],
      intraOpNumThreads: threads,
      interOpNumThreads: 1,
      // Pages vary in shape, so a memory plan for one shape is rarely reused.
      enableMemPattern: false,
      enableCpuMemArena: false,
      extra: { session: { 'intra_op.allow_spinning': '0' } },
      logSeverityLevel: 4,
    });
  const network = (opened: InferenceSession): Network => ({
    async run(data, dims) {
      const input = new Tensor('float32', data, dims);
      const [name = ''] = opened.outputNames;
      const output = (await opened.run({ [opened.inputNames[0]!]: input }, [name]))[name]!;
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
  const [finds, reads, text] = await Promise.all([
    session(detection),
    session(recognition),
    readFile(dictionary, 'utf8'),
  ]);
  return {
    detection: network(finds),
    recognition: network(reads),
    dictionary: text.replace(/\r?\n$/, '').split(/\r?\n/),
    lineHeight: heightOf(reads) ?? LINE_HEIGHT,
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
