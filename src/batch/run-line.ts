/** Runs one line on the model, and creates its output or error line (docs/reference/wire/models.md, Batch output). */
import { randomBytes } from 'node:crypto';
import type { Problem } from '#errors.ts';
import {
  type Embeddings,
  type EmbedRequest,
  embed,
  finishVector,
  type ModelRuntime,
  type Registry,
  readEmbedRequest,
  refuseZeros,
  vectorAsJson,
} from '#models/index.ts';
import type { JobOptions } from './job.ts';
import type { StoredLine } from './line.ts';
import { taskOfKind } from './task.ts';

export type ServedEmbedding = Awaited<ReturnType<Registry['embedding']>>;

/** Converts a failure to the form shown to callers of the model API. */
export type FailureOf = (failure: Problem) => { readonly code: string; readonly message: string };

export interface Outcome {
  readonly kind: 'output' | 'errors';
  /** JSON with a line break at the end. */
  readonly text: string;
  readonly tokens: number;
}

export interface Running {
  readonly models: ModelRuntime;
  readonly model: ServedEmbedding;
  /** Options of the job. */
  readonly options: JobOptions;
  readonly signal: AbortSignal;
}

/** All batch work counts as a single caller in a model's queue. */
const CALLER = 'batch';

/** Throws the problem caused by the line or the model. */
export async function runLine(
  { line, id, texts, options }: Extract<StoredLine, { readonly texts: readonly string[] }>,
  { models, model: { name, row, kind }, options: ofJob, signal }: Running,
): Promise<Outcome> {
  const given = { ...ofJob, ...options };
  const request = readEmbedRequest({ ...given, task: taskOfKind(given.task, kind), input: texts }, row, kind);
  const call = { caller: CALLER, background: true, signal, admit: async () => {} };
  const embeddings = await embed(models, row, request, call);
  refuseZeros(embeddings, request);
  const { tokens } = embeddings;
  const requestId = randomBytes(16).toString('hex');
  const start = `{"id":"${idOf(line)}","custom_id":${JSON.stringify(id)},"response":{"status_code":200,"request_id":"${requestId}"`;
  const text = `${start},"body":${bodyOf(name, request, embeddings)}},"error":null}\n`;
  return { kind: 'output', text, tokens };
}

function bodyOf(model: string, request: EmbedRequest, { outputs, tokens }: Embeddings): string {
  const data = outputs.map(({ values }, index) => {
    const vector = vectorAsJson(finishVector(values, request), request.types);
    return `{"object":"embedding","index":${index},"embedding":${vector}}`;
  });
  const usage = `{"total_tokens":${tokens},"prompt_tokens":${tokens}}`;
  return `{"model":${JSON.stringify(model)},"object":"list","usage":${usage},"data":[${data.join(',')}]}`;
}

/** Returns the error-file line for a failed line. */
export function failedLine(
  { line, id }: Pick<StoredLine, 'line' | 'id'>,
  { code, message }: ReturnType<FailureOf>,
): Outcome {
  const error = { id: idOf(line), custom_id: id, line, response: null, error: { code, message } };
  return { kind: 'errors', text: `${JSON.stringify(error)}\n`, tokens: 0 };
}

/** Error code for an invalid line. */
export const INVALID_LINE = 'INVALID_LINE';

const idOf = (line: number) => `batch_req_${String(line).padStart(6, '0')}`;
