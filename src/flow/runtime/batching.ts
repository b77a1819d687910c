/** Dynamic batching: one handler call for documents of several requests (docs/reference/wire/flow.md, Executors). */
import type { Batching } from '../definition/definition.ts';
import type { Document } from '../document.ts';
import type { Answer, Call, Handler } from '../executor.ts';

interface WaitingCall {
  readonly call: Call;
  resolve(answer: Answer): void;
  reject(reason: unknown): void;
}

interface Batch {
  readonly waiting: WaitingCall[];
  documents: number;
  timer: NodeJS.Timeout;
}

/**
 * Distributes the resulting documents to their requests. A list of a different length cannot be split, so it is an
 * error.
 */
function distributeAnswer(answer: Answer, waiting: readonly WaitingCall[], total: number): void {
  if (!Array.isArray(answer)) {
    for (const { resolve } of waiting) resolve(answer);
    return;
  }
  if (waiting.length > 1 && answer.length !== total) {
    throw new RangeError(`the executor returned ${answer.length} documents for a batch of ${total}`);
  }
  if (waiting.length === 1) {
    waiting[0]!.resolve(answer);
    return;
  }
  let at = 0;
  for (const { call, resolve } of waiting) {
    resolve((answer as readonly Document[]).slice(at, at + call.docs.length));
    at += call.docs.length;
  }
}

/**
 * Batches requests with the same endpoint, parameters and headers until there are enough documents or the time limit is
 * reached.
 */
export function createBatchedHandler(handler: Handler, { preferredBatchSize, timeoutMs }: Batching): Handler {
  const open = new Map<string, Batch>();
  // A client that disconnects must not abort the batch for the others.
  const { signal } = new AbortController();

  async function run(key: string, batch: Batch): Promise<void> {
    open.delete(key);
    clearTimeout(batch.timer);
    const { waiting, documents: total } = batch;
    const docs = waiting.flatMap(({ call }) => call.docs);
    try {
      const docsMatrix = waiting.map(({ call }) => call.docs);
      distributeAnswer(
        await handler({ ...waiting[0]!.call, docs, docsMatrix, docsMap: undefined, signal }),
        waiting,
        total,
      );
    } catch (error) {
      for (const { reject } of waiting) reject(error);
    }
  }

  return (call) =>
    new Promise<Answer>((resolve, reject) => {
      // Headers are part of the key: an executor must not see those of another client.
      const key = JSON.stringify([call.endpoint, call.parameters, call.headers]);
      let batch = open.get(key);
      if (!batch) {
        const fresh: Batch = { waiting: [], documents: 0, timer: setTimeout(() => run(key, fresh), timeoutMs) };
        open.set(key, fresh);
        batch = fresh;
      }
      batch.waiting.push({ call, resolve, reject });
      batch.documents += call.docs.length;
      if (batch.documents >= preferredBatchSize) run(key, batch);
    });
}
