import * as z from 'zod';
import { countTokens, loadTokens } from '#reader/index.ts';
import { ToolError } from '../failures.ts';
import { defineTool, maxTokens, structuredResult } from '../tool.ts';
import { modelFor } from './models.ts';

const MAX_INPUTS = 100;

export const embed = defineTool({
  name: 'embed',
  title: 'Embed texts',
  description: 'Turns texts into embedding vectors for a program. To compare texts use rerank or deduplicate.',
  input: z.strictObject({
    input: z.array(z.string().min(1)).min(1).max(MAX_INPUTS),
    model: z.string().optional(),
    task: z.string().optional().describe('Such as retrieval.query, retrieval.passage.'),
    dimensions: z.int().min(1).optional(),
    embedding_type: z
      .enum(['float', 'base64'])
      .default('float')
      .describe('`base64`: 32-bit floats, in a third of the tokens.'),
    max_tokens: maxTokens(),
  }),
  output: z.looseObject({
    model: z.string(),
    vectors: z.array(z.union([z.array(z.number()), z.string()])),
  }),
  openWorld: false,
  steps: () => 1,
  progressMessage: ({ input }) => `Embedding ${input.length} texts`,
  async run({ input, model, task, dimensions, embedding_type, max_tokens: tokens }, call) {
    const modelId = await modelFor(call, 'embeddings', model);
    const request = { model: modelId, input, task, dimensions, embedding_type };
    const answer = await call.client.embed(request, { signal: call.signal });
    const vectors = answer.data.map(({ embedding }) => embedding);
    const result = structuredResult({ model: answer.model, vectors });
    await loadTokens();
    const size = countTokens(JSON.stringify(result.structuredContent));
    if (size > tokens) {
      throw new ToolError(
        `max_tokens: the vectors take ${size} tokens. Embed fewer texts, request fewer \`dimensions\`, set \`embedding_type\` to "base64", or raise \`max_tokens\`.`,
      );
    }
    return result;
  },
});
