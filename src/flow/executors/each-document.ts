/** Processes many documents, several at a time. A failing document does not fail the others. */
import { asProblem } from '#errors.ts';
import type { Document } from '../document.ts';

export interface EachOptions {
  readonly atOnce: number;
  readonly signal: AbortSignal;
}

/**
 * Runs `work` for each document. If `work` fails, the document gets an `error` tag with the error's name and message.
 * Throws the first document's error if all documents fail, and the reason of an aborted signal.
 */
export async function eachDocument(
  docs: readonly Document[],
  { atOnce, signal }: EachOptions,
  work: (doc: Document) => Promise<void>,
): Promise<void> {
  const failures = new Map<Document, unknown>();
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let doc = docs[next++]; doc; doc = docs[next++]) {
      signal.throwIfAborted();
      try {
        await work(doc);
        if ('error' in doc.tags) doc.tags = withoutError(doc.tags);
      } catch (error) {
        failures.set(doc, error);
        const { name, message } = asProblem(error);
        doc.tags = { ...doc.tags, error: { name, message } };
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, docs.length) }, worker));
  signal.throwIfAborted();
  if (docs.length > 0 && failures.size === docs.length) throw failures.get(docs[0]!);
}

function withoutError({ error: _, ...tags }: Document['tags']): Document['tags'] {
  return tags;
}
