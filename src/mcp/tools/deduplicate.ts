import * as z from 'zod';
import { removeDuplicates, type Selection, selectMostDifferent } from '../similar.ts';
import { defineTool, structuredResult } from '../tool.ts';
import { modelFor } from './models.ts';

const MAX_TEXTS = 500;
const DEFAULT_THRESHOLD = 0.9;

export const deduplicate = defineTool({
  name: 'deduplicate',
  title: 'Remove near-duplicate texts',
  description:
    'Drops texts at least `threshold` similar to an earlier one, or keeps the `keep` most different. Returns indexes into `texts`.',
  input: z.strictObject({
    texts: z.array(z.string().min(1)).min(1).max(MAX_TEXTS),
    threshold: z.number().min(-1).max(1).optional().describe(`Cosine similarity; default ${DEFAULT_THRESHOLD}.`),
    keep: z.int().min(1).optional(),
    model: z.string().optional(),
  }),
  output: z.looseObject({
    model: z.string(),
    kept: z.array(z.int()),
    dropped: z.array(z.looseObject({ index: z.int(), like: z.int(), similarity: z.number() })),
  }),
  openWorld: false,
  steps: () => 1,
  progressMessage: ({ texts }) => `Comparing ${texts.length} texts`,
  async run({ texts, threshold = DEFAULT_THRESHOLD, keep, model }, call) {
    const modelId = await modelFor(call, 'embeddings', model);
    const request = { model: modelId, input: texts, normalized: true, truncate: true };
    const { data, model: name } = await call.client.embed(request, { signal: call.signal });
    const vectors = data.map(({ embedding }) => Float32Array.from(embedding as readonly number[]));
    const found: Selection = await (keep === undefined
      ? removeDuplicates(vectors, threshold, call.signal)
      : selectMostDifferent(vectors, keep, call.signal));
    return structuredResult({ model: name, ...found });
  },
});
