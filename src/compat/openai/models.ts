/** The list of models: OpenAI's fields, and those that Cohere's clients read. */
import { completionEntryOf, entryOf } from '#api/models/models.ts';
import { problem } from '#errors.ts';
import { isEmbedding, type ServedModel } from '#models/index.ts';
import type { CompatCall } from '../dialect.ts';
import { sendJson } from '../errors.ts';
import type { Native } from '../native/native.ts';

/** An entry in the format of Cohere's list. */
export const cohereEntry = (model: ServedModel) => ({
  name: model.name,
  endpoints: [isEmbedding(model) ? 'embed' : 'rerank'],
  finetuned: false,
  context_length: model.row.contextTokens,
  tokenizer_url: null,
  default_endpoints: [],
});

function openAiEntries({ parts }: Native, models: readonly ServedModel[]): object[] {
  const list = { ...parts, ...parts.modelHost };
  return models.map((model) => entryOf(model, list));
}

export async function listModels({ reply, native }: CompatCall): Promise<unknown> {
  const { modelHost, completions } = native.parts;
  const models = await modelHost.registry.list();
  const generative = completions.list().map((model) => completionEntryOf(model, native.parts));
  return sendJson(reply, {
    object: 'list',
    data: [...openAiEntries(native, models), ...generative],
    models: models.map(cohereEntry),
    next_page_token: '',
  });
}

export async function showModel({ reply, native, params }: CompatCall): Promise<unknown> {
  const id = (params['*'] ?? '').replace(/\/$/, '');
  const { modelHost, completions } = native.parts;
  const model = await modelHost.registry.find(id);
  if (model) return sendJson(reply, { ...openAiEntries(native, [model])[0], ...cohereEntry(model) });
  const generative = completions.find(id);
  if (generative) return sendJson(reply, completionEntryOf(generative, native.parts));
  throw problem('ModelNotFoundError', { message: `model ${id.slice(0, 100)} not found` });
}
