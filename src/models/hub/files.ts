/** Which files a model needs, and where they lie on this machine. */
import path from 'node:path';
import type { ModelFiles } from '../backends/onnx.ts';
import type { ModelRow, Runs } from '../catalogue.ts';

export type OnnxRuns = Extract<Runs, { on: 'onnx' }>;

export interface NeededFile {
  /** In the repository. */
  readonly name: string;
  /** Some repositories have none, and it can be done without. */
  readonly optional: boolean;
}

const TOKENIZER = 'tokenizer.json';
const TOKENIZER_CONFIG = 'tokenizer_config.json';

/** Undefined for a model that does not run from files here. */
export const onnxRuns = (row: ModelRow): OnnxRuns | undefined => (row.runs.on === 'onnx' ? row.runs : undefined);

export function neededFiles({ file, data }: OnnxRuns): NeededFile[] {
  const needed = (name: string): NeededFile => ({ name, optional: false });
  return [
    needed(TOKENIZER),
    { name: TOKENIZER_CONFIG, optional: true },
    needed(file),
    ...(data?.[file] ?? []).map(needed),
  ];
}

export const filesIn = (folder: string, { file }: OnnxRuns): ModelFiles => ({
  graph: path.join(folder, file),
  tokenizer: path.join(folder, TOKENIZER),
  tokenizerConfig: path.join(folder, TOKENIZER_CONFIG),
});
