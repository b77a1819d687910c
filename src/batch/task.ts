/** Maps the tasks of batch jobs to the tasks of the model's kind. */
import { TASKS } from '#models/index.ts';

export const BATCH_TASKS = [
  'text-matching',
  'retrieval',
  'retrieval.query',
  'retrieval.passage',
  'clustering',
  'classification',
] as const;
const STANDARD = 'text-matching';

/**
 * Returns the task of the embeddings request for this kind of model. Unknown tasks are returned unchanged, so that the
 * request is rejected.
 */
export function taskOfKind(task: unknown = STANDARD, kind: keyof typeof TASKS): unknown {
  const values = TASKS[kind]?.values ?? [];
  if (!BATCH_TASKS.some((word) => word === task) || values.includes(task as string)) return task;
  const wanted = task === 'retrieval' ? 'retrieval.passage' : task === 'clustering' ? 'separation' : STANDARD;
  return [wanted, STANDARD].find((word) => values.includes(word));
}
