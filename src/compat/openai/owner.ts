/** Files and batches belong to the key of the caller. Those of other keys are reported as not found. */
import { callerOf } from '#api/batch/batch.ts';
import { orUnavailable } from '#api/unavailable.ts';
import type { Job, StoredFile } from '#batch/index.ts';
import { problem } from '#errors.ts';
import type { CompatCall } from '../dialect.ts';

export const ownerOf = ({ admission }: CompatCall) => callerOf(admission.caller);

/** Other ids exist nowhere, and a database may refuse them. */
const isId = (id: string): boolean => /^(?:batch_|file-)[\w-]{1,100}$/.test(id);

export async function findJob(call: CompatCall, id: string): Promise<Job | undefined> {
  if (!isId(id)) return undefined;
  const job = await orUnavailable(call.native.parts.batch.find(id));
  return job?.owner === ownerOf(call).owner ? job : undefined;
}

export async function findFile(call: CompatCall, id: string): Promise<StoredFile | undefined> {
  if (!isId(id)) return undefined;
  const file = await orUnavailable(call.native.parts.batch.files.find(id));
  return file?.owner === ownerOf(call).owner ? file : undefined;
}

const MAX_ID = 100;

export const notFound = (what: string, id: string) =>
  problem('ResourceNotFoundError', { path: 'id', message: `No such ${what}: ${id.slice(0, MAX_ID)}` });

/** Unix seconds. */
export const secondsOf = (ms: number): number => Math.floor(ms / 1000);
