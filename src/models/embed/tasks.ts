/** What a text is embedded for: the words that each kind of model takes (contract, 5.6), and the text put in front. */
import { own } from '#own.ts';
import type { EmbeddingKind, EmbeddingRow } from '../registry/catalogue.ts';

const V3_TASKS = ['retrieval.query', 'retrieval.passage', 'text-matching', 'classification', 'separation'];
const V5_TASKS = [
  'retrieval.query',
  'retrieval.passage',
  'text-matching',
  'clustering',
  'classification',
  // Batch jobs of the hosted service use it; it means the passage side.
  'retrieval',
];
const CODE_TASKS = ['nl2code', 'qa', 'code2code', 'code2nl', 'code2completion'].flatMap((task) => [
  `${task}.query`,
  `${task}.passage`,
]);

export interface Tasks {
  readonly values: readonly string[];
  /** What an absent task means. */
  readonly standard?: string;
}

/** Kinds without a row take no task: it is ignored there. */
export const TASKS: Readonly<Partial<Record<EmbeddingKind, Tasks>>> = {
  'text-v3': { values: V3_TASKS },
  'omni-v4': {
    values: ['text-matching', 'retrieval.query', 'retrieval.passage', 'code.query', 'code.passage'],
    standard: 'text-matching',
  },
  'text-v5': { values: V5_TASKS, standard: 'text-matching' },
  'omni-v5': { values: V5_TASKS, standard: 'text-matching' },
  code: { values: CODE_TASKS, standard: 'nl2code.query' },
  // An older description of the kind had the values of text-v3; all but the query mean a document.
  'clip-v2': { values: V3_TASKS },
  sparse: { values: ['retrieval.query', 'retrieval.passage'] },
};

/** Words for a side, for clients that know no tasks. */
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
  /** Counts when no task is given. */
  readonly side?: Side | undefined;
}

/**
 * The text in front of each input: of the task itself, else of its side (`query`, `passage`), else the model's symmetric
 * one. Without task and side it is the model's `default`, else that of the kind's own task.
 */
export function prefixFor({ prefixes }: Pick<EmbeddingRow, 'prefixes'>, { kind, task, side }: Purpose): string {
  const find = (name: string) => own(prefixes, name);
  const of = (name: string) => find(name) ?? find(sideOf(name)) ?? find('text-matching') ?? find('default') ?? '';
  if (task !== undefined) return of(task);
  if (side !== undefined) return find(side) ?? find('default') ?? '';
  const standard = TASKS[kind]?.standard;
  return find('default') ?? (standard === undefined ? '' : of(standard));
}

const sideOf = (task: string) => (task === 'retrieval' ? 'passage' : task.slice(task.lastIndexOf('.') + 1));
