/** Parses and checks a submitted batch job. Reports all errors at once (docs/reference/wire/models.md, Batches). */
import { BATCH_TASKS, MAX_INLINE_LINES, optionsOf, type Submission, taskOfKind } from '#batch/index.ts';
import { Problem, problem } from '#errors.ts';
import { isUrl } from '#is-url.ts';
import { isEmbedding, type Registry, readEmbedRequest } from '#models/index.ts';
import type { Guard } from '#net/guard/guard.ts';
import type { FieldError } from '../envelopes/model.ts';
import { type ModelBody, modelOf } from '../models/body.ts';

export type JobSubmission = Pick<Submission, 'model' | 'options' | 'input' | 'webhookUrl'>;

type Served = Submission['model'];

/** Throws ModelNotFoundError for a model without dense text vectors, and ParamValidationError for invalid fields. */
export async function readSubmission(body: ModelBody, registry: Registry, guard: Guard): Promise<JobSubmission> {
  const model = await denseModel(modelOf(body), registry);
  const options = optionsOf(body);
  const errors = [...optionErrors(options, model), ...inputErrors(body, guard)];
  const webhookUrl = given(body.webhook_url);
  if (webhookUrl !== undefined) errors.push(...urlErrors('webhook_url', webhookUrl, guard));
  const [first] = errors;
  if (first) throw problem('ParamValidationError', { path: first.field, message: first.message, errors });
  return {
    model,
    options,
    input: (given(body.input) ?? body.input_url) as JobSubmission['input'],
    webhookUrl: (webhookUrl as string | undefined) ?? null,
  };
}

const isDense = ({ kind }: Served): boolean => kind !== 'colbert' && kind !== 'sparse';

/** The model of a job. Throws ModelNotFoundError for a model without dense text vectors. */
export async function denseModel(name: string, registry: Registry): Promise<Served> {
  const model = await registry.embedding(name);
  if (!isDense(model)) throw await notDense(model.name, registry);
  return model;
}

async function notDense(name: string, registry: Registry): Promise<Problem> {
  const ids = (await registry.list()).flatMap((model) => (isEmbedding(model) && isDense(model) ? [model.name] : []));
  return problem('ModelNotFoundError', {
    message: `Model ${name} not found. Available for /v1/batch/embeddings: ${ids.join(', ')}`,
  });
}

/** Treats null like a missing field. */
const given = (value: unknown): unknown => (value === null ? undefined : value);

const fieldError = (field: string, type: string, message: string, input?: unknown): FieldError => ({
  field: `body -> ${field}`,
  message,
  type,
  ...(input !== undefined && { input }),
});

/** Checks the options with an empty input, because the lines are checked later. */
function optionErrors(options: JobSubmission['options'], { row, kind }: Served): FieldError[] {
  const task = taskOfKind(options.task, kind);
  try {
    readEmbedRequest({ ...options, task, input: '' }, row, kind);
    return [];
  } catch (error) {
    if (!(error instanceof Problem) || !Array.isArray(error.facts.errors)) throw error;
    return (error.facts.errors as FieldError[]).map((found) =>
      found.field === 'body -> task' && found.type === 'enum'
        ? { ...found, message: `must be one of ${BATCH_TASKS.join(', ')}` }
        : found,
    );
  }
}

function inputErrors(body: ModelBody, guard: Guard): FieldError[] {
  const input = given(body.input);
  const url = given(body.input_url);
  if (input === undefined && url === undefined) {
    return [fieldError('input', 'missing', 'is required unless input_url is sent')];
  }
  if (input !== undefined && url !== undefined) {
    return [fieldError('input_url', 'value_error', 'cannot be sent together with input: send exactly one of them')];
  }
  if (url !== undefined) return urlErrors('input_url', url, guard);
  if (!Array.isArray(input)) return [fieldError('input', 'list_type', 'must be a list of objects', input)];
  if (!input.length) return [fieldError('input', 'too_short', 'must have at least one item', input)];
  if (input.length > MAX_INLINE_LINES) {
    const message = `must have at most ${MAX_INLINE_LINES} items, not ${input.length}: use input_url for longer inputs`;
    return [fieldError('input', 'too_long', message)];
  }
  return [];
}

const MAX_URL = 4_096;

/** Checks a URL without DNS. The IP addresses of its host are checked when the connection is opened. */
function urlErrors(field: string, value: unknown, guard: Guard): FieldError[] {
  if (typeof value !== 'string') return [fieldError(field, 'string_type', 'must be a string', value)];
  if (value.length > MAX_URL) return [fieldError(field, 'too_long', `must have at most ${MAX_URL} characters`, value)];
  if (/^(?:s3|gs):/i.test(value)) {
    return [
      fieldError(field, 'value_error', 'needs credentials that this server does not have: use an https URL', value),
    ];
  }
  if (!isUrl(value) || !/^https?:$/.test(new URL(value).protocol)) {
    return [fieldError(field, 'value_error', 'must be an http or https URL', value)];
  }
  try {
    guard.checkUrl(new URL(value));
    return [];
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return [fieldError(field, 'value_error', 'is a URL that this server may not connect to', value)];
  }
}
