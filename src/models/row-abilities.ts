/** What a model can do by the way it runs, beside what its kind has fields for. */
import type { EmbeddingRow } from './catalogue.ts';
import { PROTOCOLS } from './remote/protocols.ts';

export interface Abilities {
  readonly lateChunking: boolean;
  /** A vector for each token. */
  readonly multivector: boolean;
}

export function abilitiesOf({ runs, pooling }: Pick<EmbeddingRow, 'runs' | 'pooling'>): Abilities {
  switch (runs.on) {
    case 'static':
      return { lateChunking: false, multivector: false };
    case 'onnx':
      return { lateChunking: pooling === 'mean', multivector: true };
    case 'remote': {
      const { embed } = PROTOCOLS[runs.protocol];
      return { lateChunking: embed?.lateChunking ?? false, multivector: embed?.outputs.includes('tokens') ?? false };
    }
  }
}
