/** `GET /v1/models` and `GET /v1/models/{id}`: the available models (docs/reference/wire/models.md, Model list). */
import { problem } from '#errors.ts';
import type { Face } from '#http/server.ts';
import {
  type CompletionModel,
  type Completions,
  capabilitiesOf,
  EMBED_FIELDS,
  isEmbedding,
  type ModelRow,
  mediaNotes,
  modalitiesOf,
  type Registry,
  type ServedModel,
  sizesOf,
  TASKS,
} from '#models/index.ts';
import { ownValue } from '#own-value.ts';
import { type ModelEndpointOptions, publicRoute } from './endpoint.ts';

/** Prices by model and unit, as decimal strings. */
export type Prices = Readonly<Record<string, Readonly<Record<string, string>>>>;

export interface ModelList extends ModelEndpointOptions {
  /** Prices by model id. A unit without a price is free. */
  readonly prices: Prices;
  readonly completions: Completions;
}

export function modelsRoutes(face: Face, deps: ModelList): void {
  publicRoute(face, '/v1/models', async (request, reply) => {
    const isWhole = readAll(request.query as Readonly<Record<string, unknown>>);
    const listed = await (isWhole ? deps.registry.listAll() : deps.registry.list());
    const models = listed.map((model) => entryOf(model, deps));
    const completionModels = deps.completions.list().map((model) => completionEntryOf(model, deps));
    const data = [...models, ...completionModels].sort((a, b) => Number(b.available) - Number(a.available));
    return send(reply, { object: 'list', data });
  });
  // An id may contain a slash, raw or encoded.
  publicRoute(face, '/v1/models/*', async (request, reply) => {
    const id = (request.params as { '*': string })['*'].replace(/\/$/, '');
    const model = await deps.registry.find(id);
    const completionModel = model ? undefined : deps.completions.find(id);
    if (completionModel) return send(reply, completionEntryOf(completionModel, deps));
    if (!model)
      throw problem('ResourceNotFoundError', { message: `model ${id.slice(0, 100)} not found or access denied` });
    return send(reply, entryOf(model, deps));
  });
}

/** Whether models that are not usable at once are listed, too. */
function readAll({ all }: Readonly<Record<string, unknown>>): boolean {
  if (all === undefined || all === 'false') return false;
  if (all === 'true') return true;
  const fault = { field: 'query -> all', message: 'must be true or false', type: 'enum', input: all };
  throw problem('ParamValidationError', { path: 'all', message: 'all must be true or false', errors: [fault] });
}

const send = (reply: Parameters<Parameters<typeof publicRoute>[2]>[1], value: unknown) =>
  reply.type('application/json; charset=utf-8').send(JSON.stringify(value));

const FREE_PRICING = {
  prompt: '0',
  completion: '0',
  image: '0',
  request: '0',
  input_cache_read: '0',
  input_cache_write: '0',
};

export function entryOf(
  model: ServedModel,
  { registry, models, prices }: Pick<ModelList, 'registry' | 'models' | 'prices'>,
): Record<string, unknown> {
  const { row, alias, name } = model;
  const embedding = isEmbedding(model) ? model : undefined;
  const sizes = embedding && sizesOf(embedding.row);
  const modalities = embedding ? modalitiesOf(embedding.row, embedding.kind, models.media?.support) : ['text'];
  return {
    id: alias ? name : row.hub || row.id,
    name: row.name,
    hugging_face_id: row.hub,
    created: row.created,
    description: [row.description, ...(embedding ? mediaNotes(embedding.row, modalities) : [])].join('. '),
    input_modalities: modalities,
    output_modalities: [embedding ? 'embeddings' : 'rerank'],
    context_length: row.contextTokens,
    max_output_length: embedding?.row.dimensions ?? 0,
    quantization: quantizationOf(row),
    pricing: { ...FREE_PRICING, ...ownValue(prices, row.id) },
    supported_sampling_parameters: [],
    supported_features: featuresOf(model),
    datacenters: [],
    object: 'model',
    owned_by: row.hub.includes('/') ? row.hub.slice(0, row.hub.indexOf('/')) : 'lectern',
    serves: row.id,
    kind: embedding?.kind ?? 'rerank',
    spaces: embedding?.row.spaces ?? {},
    ...(sizes && { dimensions: sizes === 'any' ? embedding.row.matryoshka : sizes }),
    languages: row.languages,
    license: row.licence,
    available: registry.availability(row) === 'here',
    how: howOf(row, registry.availability(row)),
    on_disk: row.runs.on !== 'remote' && registry.availability(row) === 'here',
    residence: models.residence(row),
  };
}

/** The entry for a model that generates text: text recognition, or a model on a remote server. */
export function completionEntryOf(
  model: CompletionModel,
  { prices }: Pick<ModelList, 'prices'>,
): Record<string, unknown> {
  const { id, description, readsImages, chats, contextTokens } = model;
  return {
    id,
    name: id,
    hugging_face_id: '',
    created: 0,
    description,
    input_modalities: readsImages ? ['text', 'image', 'file'] : ['text'],
    output_modalities: ['text'],
    context_length: contextTokens,
    max_output_length: 0,
    quantization: '',
    pricing: { ...FREE_PRICING, ...ownValue(prices, id) },
    supported_sampling_parameters: chats
      ? ['temperature', 'top_p', 'seed', 'stop', 'max_tokens']
      : ['stop', 'max_tokens'],
    supported_features: ['streaming'],
    datacenters: [],
    object: 'model',
    owned_by: 'lectern',
    kind: 'chat',
    available: true,
    how: readsImages && !chats ? 'built-in' : 'server',
  };
}

/** How a model can be used: where it runs, or what makes it available. */
function howOf({ id, runs }: ModelRow, availability: ReturnType<Registry['availability']>): string {
  if (runs.on === 'static') return 'built-in';
  if (runs.on === 'remote') return 'server';
  if (availability === 'here') return 'on disk';
  if (availability === 'download') return 'downloaded on first use';
  if (runs.folder !== undefined) return 'its folder is missing or lacks a file';
  return runs.unpublished ? 'needs a folder with its exported graph' : `lectern models pull ${id}`;
}

export const quantizationOf = ({ runs }: ModelRow): string =>
  runs.on === 'static' || (runs.on === 'onnx' && /int8|quantized/.test(runs.file)) ? 'int8' : '';

function featuresOf(model: ServedModel): string[] {
  if (!isEmbedding(model)) return [];
  const { kind, row } = model;
  const can = capabilitiesOf(row);
  return [
    ...(row.matryoshka.length ? ['matryoshka'] : []),
    ...(can.lateChunking && LATE_CHUNKING.includes(kind) ? ['late_chunking'] : []),
    ...(can.multivector && (kind === 'omni-v4' || kind === 'colbert' || kind === 'm3') ? ['multivector'] : []),
    ...(can.sparse ? ['sparse'] : []),
    ...(TASKS[kind] ? ['tasks'] : []),
  ];
}

const LATE_CHUNKING: readonly string[] = EMBED_FIELDS.late_chunking.kinds;
