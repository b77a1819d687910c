/** PP-OCR as an engine: ONNX models, which the operator provides, detect and recognize lines. */
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { createProcessPool } from '#concurrency/processes.ts';
import { defaultThreads } from '#concurrency/threads.ts';
import { ConfigError } from '#config.ts';
import { problem } from '#errors.ts';
import { RUNTIME_MISSING } from '#onnx-runtime.ts';
import type { OcrEngine } from '../../engine.ts';
import { recognitionFailed } from '../tesseract/tesseract.ts';
import type { PpOcrFiles, PpOcrResult, PpOcrTask } from './worker.ts';

export interface PpOcr extends OcrEngine {
  close(): Promise<void>;
}

const WORKER = new URL(`./worker.${import.meta.url.endsWith('.ts') ? 'ts' : 'js'}`, import.meta.url);
/** Maximum memory in MB. The large networks need more than 1 GB for a full page. */
const WORKER_MB = 3_072;

/** Throws ConfigError if the folder is missing a required file. */
export function createPpOcr(dir: string, timeoutMs: number): PpOcr {
  const files = filesIn(dir);
  const processes = createProcessPool<PpOcrTask, PpOcrResult>({ worker: WORKER, count: 1, memoryMb: WORKER_MB });
  return {
    name: 'pp-ocr',
    supportsSparse: false,
    async recognize(picture, { signal }) {
      try {
        return await processes.run({ files, picture, threads: defaultThreads() }, { timeoutMs, signal });
      } catch (error) {
        if (signal.aborted) throw signal.reason;
        if ((error as Error).message !== RUNTIME_MISSING) throw recognitionFailed(error);
        const message =
          'PP-OCR needs the package onnxruntime-node, which the operator adds with `npm install onnxruntime-node`';
        throw problem('DownstreamServiceFailureError', { message }, error);
      }
    },
    close: () => processes.close(),
  };
}

/**
 * Finds the model files by the names under which they are usually exported: `ch_PP-OCRv4_det_infer.onnx`, `rec.onnx`,
 * `ppocr_keys_v1.txt`.
 */
function filesIn(dir: string): PpOcrFiles {
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
