/** The model of a request, or the default one: a vLLM server has one model, and its clients may omit it. */
import { problem } from '#errors.ts';
import type { CompatCall } from '../dialect.ts';

export function modelOf(call: CompatCall, model: string | undefined, does: 'embedder' | 'reranker'): string {
  const name = model ?? call.native.parts.modelHost.registry.defaults[does];
  if (name !== undefined) return name;
  throw problem('ParamValidationError', { path: 'model', message: 'model is required' });
}

/** `id`, `object` and `created` of a response. */
export const headOf = ({ request }: CompatCall, prefix: string) => ({
  id: `${prefix}-${request.id}`,
  object: 'list',
  created: Math.floor(Date.now() / 1000),
});

export const usageOf = (tokens: number) => ({ prompt_tokens: tokens, total_tokens: tokens, completion_tokens: 0 });
