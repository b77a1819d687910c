/** The files that a model needs, and their paths on this machine. */
import path from 'node:path';
import type { ModelFiles } from '../backends/onnx.ts';
import type { ModelRow, Runs, Towers } from '../registry/catalogue.ts';

export type OnnxRuns = Extract<Runs, { on: 'onnx' }>;

export interface NeededFile {
  /** Path in the repository. */
  readonly name: string;
  /** True if the model works without the file, because some repositories lack it. */
  readonly optional: boolean;
}

const TOKENIZER = 'tokenizer.json';
const TOKENIZER_CONFIG = 'tokenizer_config.json';
const PICTURES_CONFIG = 'preprocessor_config.json';

/** Undefined if the model does not run from local files. */
export const onnxRuns = (row: ModelRow): OnnxRuns | undefined => (row.runs.on === 'onnx' ? row.runs : undefined);

export function neededFiles({ file, data, towers }: OnnxRuns): NeededFile[] {
  const needed = (name: string): NeededFile => ({ name, optional: false });
  const graphs = new Set([file, ...towerFiles(towers)]);
  return [
    needed(TOKENIZER),
    { name: TOKENIZER_CONFIG, optional: true },
    ...(towers?.image && !towers.image.rule ? [needed(PICTURES_CONFIG)] : []),
    ...[...graphs].flatMap((graph) => [graph, ...(data?.[graph] ?? [])].map(needed)),
  ];
}

const towerFiles = (towers: Towers | undefined): string[] =>
  [towers?.image, towers?.audio].flatMap((tower) => (tower ? [tower.file] : []));

export const filesIn = (folder: string, { file, towers }: OnnxRuns): ModelFiles => ({
  graph: path.join(folder, file),
  imageGraph: towers?.image && path.join(folder, towers.image.file),
  audioGraph: towers?.audio && path.join(folder, towers.audio.file),
  picturesConfig: path.join(folder, PICTURES_CONFIG),
  tokenizer: path.join(folder, TOKENIZER),
  tokenizerConfig: path.join(folder, TOKENIZER_CONFIG),
});
