/** Splits documents into passages: at headings, then between paragraphs, then between sentences. */
import { Document } from '../document.ts';
import { type Call, Executor, type ExecutorClass, requests } from '../executor.ts';
import { readSettings, type Settings } from './settings.ts';
import type { BuiltInTools } from './tools.ts';

export function chunkExecutor(cut: BuiltInTools['cut']): ExecutorClass {
  return class Chunk extends Executor<Settings> {
    static override readonly requests = requests<Chunk>({ '/index': 'chunk', '/update': 'chunk', '/chunk': 'chunk' });

    override start(): void {
      readSettings(this.options, []);
    }

    /** Replaces a document's chunks. `location` is their position in its text. */
    chunk({ docs }: Call): void {
      for (const doc of docs) {
        if (doc.text !== '') doc.chunks = cut(doc.text).map((part) => chunkOf(doc, part));
      }
    }
  };
}

function chunkOf({ text, uri, mimeType }: Document, { start, end, heading }: ReturnType<BuiltInTools['cut']>[number]) {
  return new Document({
    text: text.slice(start, end),
    location: [start, end],
    mimeType,
    uri,
    ...(heading && { tags: { heading } }),
  });
}
