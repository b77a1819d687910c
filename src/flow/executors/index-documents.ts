/** Adds documents to a search index and removes them from it. */
import { ownValue } from '#own-value.ts';
import type { Document } from '../document.ts';
import { type Call, Executor, type ExecutorClass, requests } from '../executor.ts';
import { openExecutorCollection } from './collection.ts';
import { readSettings, type Settings } from './settings.ts';
import type { BuiltInTools, Collection, Entry } from './tools.ts';

export function indexExecutor(open: BuiltInTools['openCollection']): ExecutorClass {
  return class Index extends Executor<Settings> {
    static override readonly requests = requests<Index>({ '/index': 'add', '/update': 'add', '/delete': 'remove' });

    #collection: Collection | undefined;

    override async start(): Promise<void> {
      this.#collection = await openExecutorCollection(readSettings(this.options, ['collection']), this.context, open);
    }

    override async close(): Promise<void> {
      await this.#collection?.close();
    }

    /** Indexes documents that have a text. Others, such as unreadable ones, are only counted. */
    async add({ docs }: Call): Promise<Record<string, number>> {
      const entries = docs.filter(({ text }) => text.trim() !== '').map(createEntry);
      const added = await this.#collection!.add(entries);
      const indexed = added.filter(Boolean).length;
      return { indexed, unchanged: entries.length - indexed, skipped: docs.length - entries.length };
    }

    async remove({ docs }: Call): Promise<Record<string, number>> {
      let removed = 0;
      for (const { id, uri } of docs) {
        if (await this.#collection!.remove({ id, url: httpUrl(uri) })) removed += 1;
      }
      return { removed, unknown: docs.length - removed };
    }
  };
}

const httpUrl = (uri: string): string | undefined => (/^https?:\/\//i.test(uri) ? uri : undefined);
const textTag = ({ tags }: Document, name: string): string | undefined => {
  const value = ownValue(tags, name);
  return typeof value === 'string' && value !== '' ? value : undefined;
};

const createEntry = (doc: Document): Entry => ({
  id: doc.id,
  url: httpUrl(doc.uri),
  title: textTag(doc, 'title') ?? '',
  description: textTag(doc, 'description'),
  content: doc.text,
  language: textTag(doc, 'language'),
});
