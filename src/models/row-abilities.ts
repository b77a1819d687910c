/** What a model can do by the way it runs, beside what its kind has fields for. */
import type { EmbeddingRow } from './catalogue.ts';
import { PROTOCOLS } from './remote/protocols.ts';

export interface Abilities {
  readonly lateChunking: boolean;
  /** A vector for each token. */
  readonly multivector: boolean;
  /** A weight for each word. */
  readonly sparse: boolean;
}

export function abilitiesOf({ runs, pooling, kind }: Pick<EmbeddingRow, 'runs' | 'pooling' | 'kind'>): Abilities {
  switch (runs.on) {
    case 'static':
      return { lateChunking: false, multivector: false, sparse: false };
    case 'onnx':
      return { lateChunking: pooling === 'mean', multivector: true, sparse: kind === 'sparse' };
    case 'remote': {
      const { embed } = PROTOCOLS[runs.protocol];
      const outputs = embed?.outputs ?? [];
      return {
        lateChunking: embed?.lateChunking ?? false,
        multivector: outputs.includes('tokens'),
        sparse: outputs.includes('sparse'),
      };
    }
  }
}
