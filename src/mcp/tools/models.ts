/** Chooses the model if the caller names none. */
import { ToolError } from '../failures.ts';
import type { ToolCall } from '../tool.ts';

/** Returns the given model, else the first served model with this output. Throws a ToolError if there is none. */
export async function modelFor(
  { client, signal }: ToolCall,
  output: 'embeddings' | 'rerank',
  given: string | undefined,
): Promise<string> {
  if (given) return given;
  const models = await client.models({ signal });
  const found = models.find(({ output_modalities: modalities }) => modalities.includes(output));
  if (found) return found.id;
  throw new ToolError(
    `This server has no ${output === 'rerank' ? 'reranking' : 'embedding'} model; a person can add one with \`lectern models pull\`.`,
  );
}
