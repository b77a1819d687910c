/** Moves a collection between the data folder and PostgreSQL. Repeating a move changes nothing. */
import { type MovedIndex, moveIndex } from '#search/index.ts';
import { type DocumentIds, openDocumentIds } from './document-ids.ts';
import { type CollectionPlace, indexPlace } from './place.ts';

export interface CollectionMove {
  /** Whether the target may have documents already. */
  readonly continues: boolean;
  readonly onPages: (pages: number) => void;
}

const AT_ONCE = 500;

/** Returns `undefined` if there is no index, and 'filled' if the target must be empty but is not. */
export async function moveCollection(
  from: CollectionPlace,
  to: CollectionPlace,
  { continues, onPages }: CollectionMove,
): Promise<MovedIndex | 'filled' | undefined> {
  // Opening the ids creates the folder or schema.
  const source = await openDocumentIds(from);
  const target = await openDocumentIds(to);
  try {
    const move = { from: indexPlace(from), to: indexPlace(to), continues, onProgress: onPages };
    const moved = await moveIndex(move);
    if (moved === undefined || moved === 'filled') return moved;
    const ids = await copyIds(source, target);
    return { ...moved, before: `${moved.before} ${ids.copied}`, after: `${moved.after} ${ids.found}` };
  } finally {
    await source.close();
    await target.close();
  }
}

/** Returns how many ids were copied, and how many of them are at the target then. */
async function copyIds(source: DocumentIds, target: DocumentIds): Promise<{ copied: number; found: number }> {
  let [copied, found] = [0, 0];
  for (let after = ''; ; ) {
    const documents = await source.after(after, AT_ONCE);
    if (documents.length === 0) return { copied, found };
    await target.put(documents);
    const there = await target.idsOf(documents.map(({ address }) => address));
    copied += documents.length;
    found += documents.filter(({ address, id }) => there.get(address) === id).length;
    after = documents.at(-1)!.address;
  }
}
