/**
 * Reads untrusted OLE compound files (MS-CFB): storages and streams, as in a small file system. Chains of sectors may
 * be cyclic or overlap, so each chain is bounded by the file, and so is the number of bytes read in total.
 */
import { DocumentError } from '../document.ts';

export interface OleStream {
  readonly name: string;
  /** Declared size in bytes. */
  readonly size: number;
  /** The content, as far as it is in the file. Throws DocumentError `too large` if too much was read in total. */
  read(): Uint8Array;
}

/** Names are compared without regard to case (MS-CFB, 2.6.4). */
export interface OleStorage {
  readonly name: string;
  readonly storages: readonly OleStorage[];
  readonly streams: readonly OleStream[];
  stream(name: string): OleStream | undefined;
  storage(name: string): OleStorage | undefined;
}

const HEADER_BYTES = 512;
const ENTRY_BYTES = 128;
const LISTED_FATS = 109;
const MAGIC = 0xe011cfd0;
/** Sector numbers from here on are marks, such as the end of a chain. */
const FIRST_MARK = 0xfffffffa;
const NO_ENTRY = 0xffffffff;
const MAX_ENTRIES = 50_000;
/** Streams may share sectors. All streams together may have this many times the size of the file. */
const MAX_READ_FACTOR = 4;

const STORAGE = 1;
const STREAM = 2;
const ROOT = 5;

interface Entry {
  readonly name: string;
  readonly kind: number;
  readonly left: number;
  readonly right: number;
  readonly child: number;
  readonly start: number;
  readonly size: number;
}

const damaged = () => new DocumentError('damaged', 'The file is damaged or is not an OLE file');

/** The root storage. Throws DocumentError. */
export function openOle(bytes: Uint8Array): OleStorage {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (bytes.length < HEADER_BYTES || view.getUint32(0, true) !== MAGIC) throw damaged();
  const shift = view.getUint16(0x1e, true);
  if (shift !== 9 && shift !== 12) throw damaged();
  const sectors = createSectors(bytes, view, 2 ** shift);
  const entries = readEntries(sectors.chain(view.getUint32(0x30, true)));
  const root = entries[0];
  if (root?.kind !== ROOT) throw damaged();
  const read = createStreamReader(sectors, view, root, bytes.length * MAX_READ_FACTOR);
  return buildTree(entries, read);
}

/** The sectors of a file and its allocation table. */
function createSectors(bytes: Uint8Array, view: DataView, sectorBytes: number) {
  const count = Math.ceil(Math.max(0, bytes.length - sectorBytes) / sectorBytes);
  const sector = (number: number) => {
    const at = (number + 1) * sectorBytes;
    return number < count ? bytes.subarray(at, at + sectorBytes) : new Uint8Array();
  };
  const next = readTable(view, { sectorBytes, count });
  return {
    sector,
    /** The content of a chain, which ends at the first invalid sector, and at the latest after `maxBytes`. */
    chain(start: number, maxBytes = bytes.length): Uint8Array {
      const parts: Uint8Array[] = [];
      let length = 0;
      for (let at = start; at < count && parts.length < count && length < maxBytes; at = next[at] ?? NO_ENTRY) {
        const part = sector(at);
        parts.push(part);
        length += part.length;
      }
      return Buffer.concat(parts).subarray(0, maxBytes);
    },
  };
}

type Sectors = ReturnType<typeof createSectors>;

/** For each sector, the number of the next one in its chain. */
function readTable(view: DataView, { sectorBytes, count }: { sectorBytes: number; count: number }): Uint32Array {
  const table = new Uint32Array(count).fill(NO_ENTRY);
  const perSector = sectorBytes / 4;
  let filled = 0;
  const addSector = (number: number) => {
    const at = (number + 1) * sectorBytes;
    for (let n = 0; n < perSector && filled < count; n++, filled++) {
      if (at + n * 4 + 4 <= view.byteLength) table[filled] = view.getUint32(at + n * 4, true);
    }
  };
  const addListed = (at: number, entries: number) => {
    for (let n = 0; n < entries && filled < count; n++) {
      if (at + n * 4 + 4 > view.byteLength) return;
      const number = view.getUint32(at + n * 4, true);
      if (number < FIRST_MARK) addSector(number);
    }
  };
  addListed(0x4c, LISTED_FATS);
  let more = view.getUint32(0x44, true);
  // Each sector of the list fills a part of the table, so a cycle ends when the table is full or the file is over.
  for (let seen = 0; more < count && filled < count && seen < count; seen++) {
    const at = (more + 1) * sectorBytes;
    addListed(at, perSector - 1);
    const link = at + sectorBytes - 4;
    more = link + 4 <= view.byteLength ? view.getUint32(link, true) : NO_ENTRY;
  }
  return table;
}

function readEntries(directory: Uint8Array): Entry[] {
  const view = new DataView(directory.buffer, directory.byteOffset, directory.byteLength);
  const entries: Entry[] = [];
  for (let at = 0; at + ENTRY_BYTES <= directory.length && entries.length < MAX_ENTRIES; at += ENTRY_BYTES) {
    const nameBytes = Math.max(0, Math.min(view.getUint16(at + 64, true), 64) - 2);
    entries.push({
      name: Buffer.from(directory.buffer, directory.byteOffset + at, nameBytes).toString('utf16le'),
      kind: directory[at + 66]!,
      left: view.getUint32(at + 68, true),
      right: view.getUint32(at + 72, true),
      child: view.getUint32(at + 76, true),
      start: view.getUint32(at + 116, true),
      size: view.getUint32(at + 120, true),
    });
  }
  return entries;
}

type ReadStream = (entry: Entry) => Uint8Array;

/** Streams below this size are short; the sectors of short streams have this size (both fixed: MS-CFB, 2.2). */
const SHORT_BELOW = 4_096;
const SHORT_SECTOR_BYTES = 64;

/** Short streams are in sectors inside the stream of the root, with a table of their own. */
function createStreamReader(sectors: Sectors, view: DataView, root: Entry, maxBytes: number): ReadStream {
  let short: { readonly content: Uint8Array; readonly next: DataView } | undefined;
  let left = maxBytes;
  const readShort = ({ start, size }: Entry): Uint8Array => {
    if (!short) {
      const table = sectors.chain(view.getUint32(0x3c, true));
      const next = new DataView(table.buffer, table.byteOffset, table.byteLength);
      short = { content: sectors.chain(root.start, root.size), next };
    }
    const { content, next } = short;
    const parts: Uint8Array[] = [];
    for (let at = start, length = 0; at < FIRST_MARK && length < size; length += SHORT_SECTOR_BYTES) {
      const from = at * SHORT_SECTOR_BYTES;
      if (from >= content.length) break;
      parts.push(content.subarray(from, from + SHORT_SECTOR_BYTES));
      at = at * 4 + 4 <= next.byteLength ? next.getUint32(at * 4, true) : NO_ENTRY;
    }
    return Buffer.concat(parts).subarray(0, size);
  };
  return (entry) => {
    const content = entry.size < SHORT_BELOW ? readShort(entry) : sectors.chain(entry.start, entry.size);
    left -= content.length;
    if (left < 0)
      throw new DocumentError('too large', 'The streams of the OLE file overlap and are too large in total');
    // Some readers need the buffer to themselves.
    return new Uint8Array(content);
  };
}

interface OpenStorage {
  readonly storage: OleStorage;
  readonly storages: OleStorage[];
  readonly streams: OleStream[];
}

/** Each entry has one place in the tree: an entry that is reached again is ignored. */
function buildTree(entries: readonly Entry[], read: ReadStream): OleStorage {
  const seen = new Set<number>([0]);
  const root = openStorage(entries[0]!.name);
  const waiting: [parent: OpenStorage, entry: number][] = [[root, entries[0]!.child]];
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    const [parent, number] = next;
    const entry = entries[number];
    if (!entry || seen.has(number)) continue;
    seen.add(number);
    waiting.push([parent, entry.right]);
    if (entry.kind === STREAM) {
      parent.streams.push({ name: entry.name, size: entry.size, read: () => read(entry) });
    } else if (entry.kind === STORAGE) {
      const opened = openStorage(entry.name);
      parent.storages.push(opened.storage);
      waiting.push([opened, entry.child]);
    }
    waiting.push([parent, entry.left]);
  }
  return root.storage;
}

function openStorage(name: string): OpenStorage {
  const storages: OleStorage[] = [];
  const streams: OleStream[] = [];
  const byName = <Item extends { readonly name: string }>(items: readonly Item[], wanted: string) =>
    items.find((item) => item.name.toLowerCase() === wanted.toLowerCase());
  const storage: OleStorage = {
    name,
    storages,
    streams,
    stream: (wanted) => byName(streams, wanted),
    storage: (wanted) => byName(storages, wanted),
  };
  return { storage, storages, streams };
}
