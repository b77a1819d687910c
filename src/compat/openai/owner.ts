/** Batches belong to the key of the caller. Those of other keys are reported as not found. */
import { orUnavailable } from '#api/unavailable.ts';
import type { Job } from '#batch/index.ts';
import { problem } from '#errors.ts';
import type { CompatCall } from '../dialect.ts';
import { isStoredId, ownerOf } from '../uploaded-files.ts';

export async function findJob(call: CompatCall, id: string): Promise<Job | undefined> {
  if (!isStoredId(id)) return undefined;
  const job = await orUnavailable(call.native.parts.batch.find(id));
  return job?.owner === ownerOf(call).owner ? job : undefined;
}

const MAX_ID = 100;

export const notFound = (what: string, id: string) =>
  problem('ResourceNotFoundError', { path: 'id', message: `No such ${what}: ${id.slice(0, MAX_ID)}` });
