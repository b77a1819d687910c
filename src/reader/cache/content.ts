/** The content of a cached copy: compressed text and pictures, each stored as a blob named after its hash. */
import { promisify } from 'node:util';
import { brotliCompress, brotliCompressSync, brotliDecompress, brotliDecompressSync, constants } from 'node:zlib';
import { type Blobs, blobName } from '#storage/blobs/blobs.ts';
import type { Snapshot } from '../snapshot.ts';
import type { PartRole } from './index-queries.ts';

export interface Part {
  readonly role: PartRole;
  readonly hash: string;
  readonly bytes: Uint8Array;
}

/**
 * Texts up to these sizes are decompressed and compressed in this thread, because a transfer to another thread would
 * take longer.
 */
const SHORT_BYTES = 256 * 1024;
const SHORT_TO_COMPRESS_BYTES = 64 * 1024;
const COMPRESSION = { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } };
const compress = promisify(brotliCompress);
const decompress = promisify(brotliDecompress);

/** The parts of a snapshot that are stored in `blobs`. */
export async function packContent(
  text: Buffer,
  { screenshot, pageshot }: Pick<Snapshot, 'screenshot' | 'pageshot'>,
): Promise<Part[]> {
  const packed =
    text.length <= SHORT_TO_COMPRESS_BYTES ? brotliCompressSync(text, COMPRESSION) : await compress(text, COMPRESSION);
  return partsOf({ text: packed, screenshot, pageshot });
}

export interface StoredContent {
  readonly hashes: ReadonlyMap<PartRole, string>;
  /** Size of the text in UTF-8, in bytes. */
  readonly textBytes: number;
}

/** Reads the content of a copy; `undefined` if a part is missing or damaged. */
export async function readContent(blobs: Blobs, { hashes, textBytes }: StoredContent, pictures: boolean) {
  // `undefined`: the copy has no such part; `null`: the part is missing or damaged.
  const readPart = async (role: PartRole) => {
    const hash = hashes.get(role);
    return hash === undefined ? undefined : ((await blobs.get(hash)) ?? null);
  };
  const packed = await readPart('text');
  const screenshot = pictures ? await readPart('screenshot') : undefined;
  const pageshot = pictures ? await readPart('pageshot') : undefined;
  if (!packed || screenshot === null || pageshot === null) return undefined;
  const bounds = { maxOutputLength: Math.max(textBytes, 1) };
  const text = textBytes <= SHORT_BYTES ? brotliDecompressSync(packed, bounds) : await decompress(packed, bounds);
  return { text: text.toString('utf8'), ...(screenshot && { screenshot }), ...(pageshot && { pageshot }) };
}

function partsOf(content: Record<PartRole, Uint8Array | undefined>): Part[] {
  return (Object.entries(content) as [PartRole, Uint8Array | undefined][]).flatMap(([role, bytes]) =>
    bytes ? [{ role, hash: blobName(bytes), bytes }] : [],
  );
}
