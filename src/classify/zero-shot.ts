/** Classification without training: the label whose embedding is closest to that of the input. */
import type { ModelRuntime, RequestContext, ServedEmbedding } from '#models/index.ts';
import { best, type LabelScore } from './labels.ts';
import { softmax } from './logistic-regression.ts';
import type { LabelGroups } from './request.ts';
import { embedUnits } from './vectors.ts';

/** The prediction for one input in each group of labels. */
export type Prediction = ReadonlyMap<
  string | null,
  { readonly best: LabelScore; readonly scores: readonly LabelScore[] }
>;

export interface Classified {
  readonly predictions: readonly Prediction[];
  readonly tokens: number;
}

export interface ZeroShotTask {
  readonly served: ServedEmbedding;
  readonly inputs: readonly unknown[];
  readonly groups: LabelGroups;
  readonly call: RequestContext;
}

/** The scores are the softmax of the cosines between the input and the labels. Throws the errors of `embedUnits`. */
export async function classifyZeroShot(
  models: ModelRuntime,
  { served, inputs, groups, call }: ZeroShotTask,
): Promise<Classified> {
  const labels = [...groups].flatMap(([name, group]) =>
    group.map((label, at) => ({ label, path: name === null ? ['labels', at] : ['labels', name, at] })),
  );
  const all = [...inputs, ...labels.map(({ label }) => label)];
  const { vectors, tokens } = await embedUnits(models, served, all, {
    call,
    pathOf: (at) => labels[at - inputs.length]?.path ?? ['input', at],
  });
  const ofLabels = vectors.slice(inputs.length);
  const predictions = vectors.slice(0, inputs.length).map((vector) => {
    let next = 0;
    return new Map(
      [...groups].map(([name, group]) => {
        const cosines = group.map(() => dot(vector, ofLabels[next++]!));
        return [name, predictionOf(group, softmax(cosines))];
      }),
    );
  });
  return { predictions, tokens };
}

export function predictionOf(labels: readonly string[], probabilities: readonly number[]) {
  const scores = labels.map((label, at) => ({ label, score: probabilities[at]! }));
  return { best: best(scores), scores };
}

function dot(one: Float32Array, other: Float32Array): number {
  let sum = 0;
  for (let at = 0; at < one.length; at++) sum += one[at]! * other[at]!;
  return sum;
}
