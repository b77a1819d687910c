/** Opens the collection that an executor's options name. */

import { invalidOption, type OptionReader } from '../definition/options.ts';
import type { ExecutorContext } from '../executor.ts';
import type { BuiltInTools, Collection } from './tools.ts';

/** Built-in executors that open a collection. */
export const COLLECTION_NAMES: readonly string[] = ['Index', 'Search'];
export const DEFAULT_COLLECTION = 'documents';
/** With the number of a shard, it is a part of the name of a schema in PostgreSQL. */
const NAME = /^[A-Za-z0-9_-]{1,40}$/;

/** Each shard has its own collection. */
export async function openExecutorCollection(
  reader: OptionReader,
  { shardId }: ExecutorContext,
  open: BuiltInTools['openCollection'],
): Promise<Collection> {
  const name = reader.string('collection') ?? DEFAULT_COLLECTION;
  if (!NAME.test(name)) throw invalidOption(reader.pathOf('collection'), 'use letters, digits, - and _, at most 40');
  return open(shardId < 0 ? name : `${name}-${shardId}`);
}
