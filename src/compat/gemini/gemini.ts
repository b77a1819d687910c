/** Embeddings of Gemini's API. */
import * as z from 'zod';
import { problem } from '#errors.ts';
import { isEmbedding } from '#models/index.ts';
import type { CompatCall, Dialect } from '../dialect.ts';
import { type StatusTable, sendJson, statusOf } from '../errors.ts';
import { readFields, renameFields } from '../fields.ts';
import { sentFields, showIgnored } from '../ignored.ts';
import type { GivenFields } from '../native/native.ts';
import { taskFor } from '../native/purpose.ts';
import { listJson, sendJsonText, vectorJson, vectorsOf } from '../native/vectors.ts';

const STATUSES: StatusTable = {
  ModelNotFoundError: 404,
  InsufficientBalanceError: 429,
  TierFeatureConstraintError: 403,
  SubmittedDataMalformedError: 400,
  DownstreamServiceFailureError: 503,
};

/** Google's names of HTTP statuses. */
const NAMES: Readonly<Partial<Record<number, string>>> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  429: 'RESOURCE_EXHAUSTED',
  503: 'UNAVAILABLE',
  504: 'DEADLINE_EXCEEDED',
};

const QUERIES = ['RETRIEVAL_QUERY', 'QUESTION_ANSWERING', 'FACT_VERIFICATION', 'CODE_RETRIEVAL_QUERY'] as const;
const TASKS = [
  ...QUERIES,
  'RETRIEVAL_DOCUMENT',
  'SEMANTIC_SIMILARITY',
  'CLASSIFICATION',
  'CLUSTERING',
  'TASK_TYPE_UNSPECIFIED',
] as const;

const REQUEST_FIELDS = z.object({
  content: z.object({ parts: z.array(z.object({ text: z.string() })).min(1, 'must have at least one part') }),
  taskType: z.enum(TASKS).optional(),
  outputDimensionality: z.number().optional(),
});
type GeminiRequest = z.output<typeof REQUEST_FIELDS>;

const BATCH_FIELDS = z.object({ requests: z.array(REQUEST_FIELDS).min(1, 'must have at least one item') });

async function purposeOf(call: CompatCall, model: string, { taskType }: GeminiRequest): Promise<GivenFields> {
  switch (taskType) {
    case undefined:
    case 'TASK_TYPE_UNSPECIFIED':
      return {};
    case 'RETRIEVAL_DOCUMENT':
      return { input_type: 'document' };
    case 'SEMANTIC_SIMILARITY':
      return taskFor(model, 'similarity', call.native.parts);
    case 'CLASSIFICATION':
      return taskFor(model, 'classification', call.native.parts);
    case 'CLUSTERING':
      return taskFor(model, 'clustering', call.native.parts);
    default:
      return { input_type: 'query' };
  }
}

/** The method after the last colon of the path: `models/NAME:embedContent`. */
async function run(call: CompatCall): Promise<unknown> {
  const [, model, method] = /^(.+):(\w+)$/.exec(call.params['*'] ?? '') ?? [];
  if (model !== undefined && method === 'embedContent') return embedOne(call, model);
  if (model !== undefined && method === 'batchEmbedContents') return embedMany(call, model);
  throw problem('RouteNotFoundError', {
    message: 'Lectern has only embedContent and batchEmbedContents of the methods of models',
  });
}

async function embedOne(call: CompatCall, model: string): Promise<unknown> {
  const asked = readFields(REQUEST_FIELDS, call.body);
  showIgnored(call.reply, sentFields(call.body as Record<string, unknown>, ['title']));
  const [vector] = await embedAlike(call, model, [asked], { input: 'content', dimensions: 'outputDimensionality' });
  return sendJsonText(call.reply, `{"embedding":{"values":${vectorJson(vector!)}}}`);
}

async function embedMany(call: CompatCall, model: string): Promise<unknown> {
  const { requests } = readFields(BATCH_FIELDS, call.body);
  const vectors: Float32Array[] = new Array(requests.length);
  for (const places of alike(requests)) {
    const found = await embedAlike(
      call,
      model,
      places.map((at) => requests[at]!),
      { input: 'requests', dimensions: `requests.${places[0]}.outputDimensionality` },
    );
    for (const [index, at] of places.entries()) vectors[at] = found[index]!;
  }
  const entries = vectors.map((vector) => `{"values":${vectorJson(vector)}}`);
  return sendJsonText(call.reply, `{"embeddings":${listJson(entries)}}`);
}

/** Groups the positions of requests that differ only in their texts. */
function alike(requests: readonly GeminiRequest[]): Iterable<number[]> {
  const groups = new Map<string, number[]>();
  for (const [at, { taskType, outputDimensionality }] of requests.entries()) {
    const key = `${taskType} ${outputDimensionality}`;
    groups.set(key, [...(groups.get(key) ?? []), at]);
  }
  return groups.values();
}

async function embedAlike(
  call: CompatCall,
  model: string,
  requests: readonly GeminiRequest[],
  names: Readonly<Record<string, string>>,
): Promise<Float32Array[]> {
  const [first] = requests;
  const embedded = await call.native
    .embed(call, {
      model,
      input: requests.map(({ content }) => content.parts.map(({ text }) => text).join('\n')),
      dimensions: first!.outputDimensionality,
      truncate: true,
      ...(await purposeOf(call, model, first!)),
    })
    .catch(renameFields(names));
  if (embedded.request.output === 'pooled') return vectorsOf(embedded);
  throw problem('ParamValidationError', { path: 'model', message: `model ${model} has no single vector for a text` });
}

async function models({ reply, native }: CompatCall): Promise<unknown> {
  const found = (await native.parts.modelHost.registry.list()).filter(isEmbedding);
  return sendJson(reply, {
    models: found.map(({ name, row }) => ({
      name: `models/${name}`,
      displayName: row.name,
      description: row.description,
      supportedGenerationMethods: ['embedContent', 'batchEmbedContents'],
      inputTokenLimit: row.contextTokens,
      outputTokenLimit: 1,
    })),
  });
}

export const gemini: Dialect = {
  name: 'gemini',
  title: 'Gemini',
  keyPlaces: [{ header: 'x-goog-api-key' }, { queryField: 'key' }],
  writeError: (failure, _, reply) => {
    const code = statusOf(failure, STATUSES);
    const status = NAMES[code] ?? (code < 500 ? 'INVALID_ARGUMENT' : 'INTERNAL');
    return sendJson(reply.code(code), { error: { code, message: failure.message, status } });
  },
  routes: [
    {
      method: 'POST',
      url: '/v1beta/models/*',
      access: 'embeddings',
      summary: 'Embeds contents: `embedContent` and `batchEmbedContents`.',
      fields: REQUEST_FIELDS,
      handler: run,
    },
    { method: 'GET', url: '/v1beta/models', access: 'public', summary: 'Lists the embedding models.', handler: models },
  ],
};
