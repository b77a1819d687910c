/** The known models that can run on this machine, in the order of the model list. */
import type { ModelRow } from './catalogue.ts';
import { JINA_MODELS } from './rows/jina.ts';
import { MULTIMODAL_MODELS } from './rows/multimodal.ts';
import { RERANKERS } from './rows/rerankers.ts';
import { TEXT_MODELS } from './rows/text.ts';
import { TOKEN_MODELS } from './rows/token.ts';

export const KNOWN_MODELS: readonly ModelRow[] = [
  ...TEXT_MODELS,
  ...JINA_MODELS,
  ...TOKEN_MODELS,
  ...MULTIMODAL_MODELS,
  ...RERANKERS,
];

/** Whether the licence forbids commercial use. Shown before a download and in every list. */
export const isNonCommercial = (licence: string): boolean => /\bNC\b|non-?commercial/i.test(licence);

/**
 * Returns the row with the model's quantized graph, if there is one. That graph is a quarter of the size and slightly
 * less accurate.
 */
export function inPrecision<Row extends ModelRow>(row: Row, precision: 'full' | 'quantized'): Row {
  const { runs } = row;
  if (precision === 'full' || runs.on !== 'onnx' || !runs.quantized) return row;
  const { towers } = runs;
  const inTower = <Tower extends { file: string; quantized?: string | undefined }>(tower: Tower): Tower =>
    tower.quantized === undefined ? tower : { ...tower, file: tower.quantized };
  return {
    ...row,
    runs: {
      ...runs,
      file: runs.quantized,
      bytes: undefined,
      ...(towers && {
        towers: {
          ...(towers.image && { image: inTower(towers.image) }),
          ...(towers.audio && { audio: inTower(towers.audio) }),
        },
      }),
    },
  };
}
