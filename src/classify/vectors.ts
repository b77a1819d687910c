/** Vectors of length 1 for classification. */
import {
  createFaults,
  embed,
  finishVector,
  type ModelRuntime,
  type RequestContext,
  readEmbedRequest,
  type ServedEmbedding,
  TASKS,
} from '#models/index.ts';

export interface UnitVectors {
  readonly vectors: readonly Float32Array[];
  readonly tokens: number;
}

const TASK = 'classification';

/**
 * Embeds inputs for classification, with the model's classification task if it has one. Throws the errors of `embed`,
 * and ParamValidationError for inputs in which the model recognizes nothing. `pathOf` returns the path of an input in
 * the request.
 */
export async function embedUnits(
  models: ModelRuntime,
  { row, kind }: ServedEmbedding,
  inputs: readonly unknown[],
  { call, pathOf }: { readonly call: RequestContext; readonly pathOf: (at: number) => (string | number)[] },
): Promise<UnitVectors> {
  const faults = createFaults();
  if (kind === 'colbert' || kind === 'sparse') {
    faults.add(['model'], 'value_error', 'cannot classify: the model does not return one dense vector for each input');
    faults.check();
  }
  for (const [at, input] of inputs.entries()) {
    const text = typeof input === 'string' ? input : (input as { readonly text?: unknown } | null)?.text;
    if (typeof text === 'string' && text !== '' && text.trim() === '')
      faults.add(pathOf(at), 'value_error', 'must not consist of white space', text);
  }
  faults.check();
  const task = TASKS[kind]?.values.includes(TASK) ? { task: TASK } : {};
  const request = readEmbedRequest({ input: inputs, ...task }, row, kind);
  const { outputs, tokens } = await embed(models, row, request, call);
  const vectors = outputs.map(({ values }) => finishVector(values, { dimensions: row.dimensions, normalized: true }));
  for (const [at, vector] of vectors.entries()) {
    if (vector.some((value) => value !== 0)) continue;
    faults.add(pathOf(at), 'value_error', 'contains nothing that this model knows: its vector would be zero');
  }
  faults.check();
  return { vectors, tokens };
}
