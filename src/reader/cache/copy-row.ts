/** What the row of a cached copy holds, in every index. */
import { createHash } from 'node:crypto';
import type { Snapshot } from '../snapshot.ts';
import { type Part, packContent } from './content.ts';
import type { PartRole } from './index-queries.ts';
import type { Captured, Copy, SnapshotFacts } from './rules.ts';

/** The JSON that is stored in a row. */
export interface RowFacts {
  readonly snapshot: SnapshotFacts;
  readonly captured: Captured;
  /** Size of the text in UTF-8, in bytes. */
  readonly textBytes: number;
}

export interface PackedCopy {
  /** Copies with the same id replace each other. */
  readonly id: string;
  readonly json: string;
  readonly parts: readonly Part[];
  /** Estimated size of the row, in bytes. */
  readonly rowBytes: number;
}

/** Estimated size of a row without its metadata, in bytes: ids, hashes and index entries. */
const ROW_BYTES = 1_024;
/** Maximum length of a page's metadata; pages with longer metadata are not cached. */
const MAX_FACTS_CHARACTERS = 256 * 1024;

/** `undefined` if the metadata of the page is too long. */
export async function packCopy(key: string, snapshot: Snapshot, captured: Captured): Promise<PackedCopy | undefined> {
  const { text, screenshot, pageshot, cachedAt: _, stale: __, ...facts } = snapshot;
  const raw = Buffer.from(text);
  const json = JSON.stringify({ snapshot: facts, captured, textBytes: raw.length } satisfies RowFacts);
  if (json.length > MAX_FACTS_CHARACTERS) return undefined;
  const parts = await packContent(raw, { screenshot, pageshot });
  return { id: copyIdOf(key, snapshot, captured), json, parts, rowBytes: ROW_BYTES + json.length };
}

/** What the rules need to know of a copy. */
export const copyOf = ({ snapshot, captured }: RowFacts, hashes: ReadonlyMap<PartRole, string>): Copy => ({
  facts: snapshot,
  screenshot: hashes.has('screenshot'),
  pageshot: hashes.has('pageshot'),
  captured,
});

/** The id of a copy. A copy without pictures or figures does not replace one that has them. */
export function copyIdOf(
  key: string,
  { screenshot, pageshot, document }: Snapshot,
  { engine, patience }: Captured,
): string {
  const kind = [key, engine, patience, screenshot !== undefined, pageshot !== undefined, document?.figures === true];
  return createHash('sha256').update(JSON.stringify(kind)).digest('hex');
}
