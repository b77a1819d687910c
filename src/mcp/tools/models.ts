/** Which model is asked when the caller names none. */
import { ToolError } from '../failures.ts';
import type { ToolCall } from '../tool.ts';

/** The first of the served models that does this. */
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
    `This server has no model for ${output === 'rerank' ? 'ranking' : 'embedding'}; a person can add one with \`lectern models pull\`.`,
  );
}
