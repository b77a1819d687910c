/** Purposes of vectors other than search, which not all kinds of models know. */
import { TASKS } from '#models/index.ts';
import type { GivenFields, NativeParts } from './native.ts';

/** Tasks of our models, in order of preference. */
const TASKS_OF: Readonly<Record<'classification' | 'clustering' | 'similarity', readonly string[]>> = {
  classification: ['classification'],
  clustering: ['clustering', 'separation'],
  similarity: ['text-matching'],
};

/** The field for a purpose; empty if the model has no prompt for it. */
export async function taskFor(
  model: string,
  purpose: keyof typeof TASKS_OF,
  { modelHost: { registry } }: NativeParts,
): Promise<GivenFields> {
  const { kind } = await registry.embedding(model);
  const task = TASKS_OF[purpose].find((name) => TASKS[kind]?.values.includes(name));
  return task === undefined ? {} : { task };
}
