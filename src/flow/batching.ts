/** Dynamic batching: documents of several requests go to a handler together (contract, section 10). */
import type { Batching } from './definition.ts';
import type { Document } from './document.ts';
import type { Answer, Call, Handler } from './executor.ts';

interface Waiting {
  readonly call: Call;
  resolve(answer: Answer): void;
  reject(reason: unknown): void;
}

interface Batch {
  readonly waiting: Waiting[];
  documents: number;
  timer: NodeJS.Timeout;
}

/** Each request's own documents again; a list that is not as long as what was given cannot be told apart. */
function share(answer: Answer, waiting: readonly Waiting[], total: number): void {
  if (!Array.isArray(answer)) {
    for (const { resolve } of waiting) resolve(answer);
    return;
  }
  if (waiting.length > 1 && answer.length !== total) {
    throw new RangeError(`a batch of ${total} documents came back as ${answer.length}`);
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

/** Requests wait for one another as long as what they ask for is equal, until there are enough documents or time is up. */
export function createBatches(handler: Handler, { preferredBatchSize, timeoutMs }: Batching): Handler {
  const open = new Map<string, Batch>();
  // One client that leaves does not end the work for the others.
  const { signal } = new AbortController();

  async function run(key: string, batch: Batch): Promise<void> {
    open.delete(key);
    clearTimeout(batch.timer);
    const { waiting, documents: total } = batch;
    const docs = waiting.flatMap(({ call }) => call.docs);
    try {
      const docsMatrix = waiting.map(({ call }) => call.docs);
      share(await handler({ ...waiting[0]!.call, docs, docsMatrix, docsMap: undefined, signal }), waiting, total);
    } catch (error) {
      for (const { reject } of waiting) reject(error);
    }
  }

  return (call) =>
    new Promise<Answer>((resolve, reject) => {
      // Headers too: what one client sends is not shown to the work for another.
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
