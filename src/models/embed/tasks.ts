/** Tasks: the values that each kind of model accepts, and the prompt of each (docs/reference/wire/models.md, Tasks). */
import { ownValue } from '#own-value.ts';
import type { EmbeddingKind, EmbeddingRow } from '../registry/catalogue.ts';

const V3_TASKS = ['retrieval.query', 'retrieval.passage', 'text-matching', 'classification', 'separation'];
const V5_TASKS = [
  'retrieval.query',
  'retrieval.passage',
  'text-matching',
  'clustering',
  'classification',
  // In batch jobs, the hosted service uses this task for passages.
  'retrieval',
];
const CODE_TASKS = ['nl2code', 'qa', 'code2code', 'code2nl', 'code2completion'].flatMap((task) => [
  `${task}.query`,
  `${task}.passage`,
]);

export interface Tasks {
  readonly values: readonly string[];
  /** Task used if none is sent. */
  readonly standard?: string;
}

/** Kinds without an entry ignore the task. */
export const TASKS: Readonly<Partial<Record<EmbeddingKind, Tasks>>> = {
  'text-v3': { values: V3_TASKS },
  'omni-v4': {
    values: ['text-matching', 'retrieval.query', 'retrieval.passage', 'code.query', 'code.passage'],
    standard: 'text-matching',
  },
  'text-v5': { values: V5_TASKS, standard: 'text-matching' },
  'omni-v5': { values: V5_TASKS, standard: 'text-matching' },
  code: { values: CODE_TASKS, standard: 'nl2code.query' },
  // As in an older description of this kind, the accepted values are those of text-v3. All of them except the query
  // task are treated as document tasks.
  'clip-v2': { values: V3_TASKS },
  sparse: { values: ['retrieval.query', 'retrieval.passage'] },
};

/** Values of `input_type`, for clients that do not support tasks. */
export const SIDES = {
  query: 'query',
  search_query: 'query',
  document: 'passage',
  search_document: 'passage',
} as const;
export type Side = (typeof SIDES)[keyof typeof SIDES];

export interface Purpose {
  readonly kind: EmbeddingKind;
  readonly task?: string | undefined;
  /** Used if no task is specified. */
  readonly side?: Side | undefined;
}

/**
 * The prompt before each input: that of the task, or else of its side (`query`, `passage`), or else of `text-matching`.
 * Without a task and a side, it is the model's `default`, or else the prompt of the kind's default task.
 */
export function prefixFor({ prefixes }: Pick<EmbeddingRow, 'prefixes'>, { kind, task, side }: Purpose): string {
  const find = (name: string) => ownValue(prefixes, name);
  const of = (name: string) => find(name) ?? find(sideOf(name)) ?? find('text-matching') ?? find('default') ?? '';
  if (task !== undefined) return of(task);
  if (side !== undefined) return find(side) ?? find('default') ?? '';
  const standard = TASKS[kind]?.standard;
  return find('default') ?? (standard === undefined ? '' : of(standard));
}

const sideOf = (task: string) => (task === 'retrieval' ? 'passage' : task.slice(task.lastIndexOf('.') + 1));
