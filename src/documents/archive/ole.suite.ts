/** Test helpers: writes OLE compound files (MS-CFB, version 3). */

/** Streams are bytes, storages are objects. */
export interface OleTree {
  readonly [name: string]: Uint8Array | OleTree;
}

const SECTOR = 512;
const SHORT_SECTOR = 64;
const SHORT_BELOW = 4_096;
const END = 0xfffffffe;
const NONE = 0xffffffff;

interface Entry {
  readonly name: string;
  readonly kind: number;
  readonly content: Uint8Array<ArrayBufferLike>;
  child: number;
  right: number;
  start: number;
  size: number;
}

const isStream = (node: Uint8Array | OleTree): node is Uint8Array => node instanceof Uint8Array;

function entriesOf(tree: OleTree): Entry[] {
  const entry = (name: string, kind: number, content: Uint8Array = new Uint8Array()): Entry => ({
    ...{ name, kind, content, child: NONE, right: NONE, start: 0 },
    size: content.length,
  });
  const entries = [entry('Root Entry', 5)];
  const add = (parent: Entry, children: OleTree) => {
    let before: Entry | undefined;
    for (const [name, node] of Object.entries(children)) {
      const made = isStream(node) ? entry(name, 2, node) : entry(name, 1);
      const at = entries.push(made) - 1;
      if (before) before.right = at;
      else parent.child = at;
      before = made;
      if (!isStream(node)) add(made, node);
    }
  };
  add(entries[0]!, tree);
  return entries;
}

export function writeOle(tree: OleTree): Uint8Array {
  const entries = entriesOf(tree);
  const sectors: Buffer[] = [];
  const fat: number[] = [];
  const store = (content: Uint8Array): number => {
    const first = sectors.length;
    for (let at = 0; at < content.length; at += SECTOR) {
      const sector = Buffer.alloc(SECTOR);
      sector.set(content.subarray(at, at + SECTOR));
      sectors.push(sector);
      fat.push(at + SECTOR < content.length ? sectors.length : END);
    }
    return content.length > 0 ? first : END;
  };
  const short: Buffer[] = [];
  const shortFat: number[] = [];
  for (const entry of entries) {
    if (entry.kind !== 2) continue;
    if (entry.size >= SHORT_BELOW) {
      entry.start = store(entry.content);
      continue;
    }
    entry.start = entry.size > 0 ? shortFat.length : END;
    for (let at = 0; at < entry.size; at += SHORT_SECTOR) {
      const sector = Buffer.alloc(SHORT_SECTOR);
      sector.set(entry.content.subarray(at, at + SHORT_SECTOR));
      short.push(sector);
      shortFat.push(at + SHORT_SECTOR < entry.size ? shortFat.length + 1 : END);
    }
  }
  const root = entries[0]!;
  const shortContent = Buffer.concat(short);
  root.size = shortContent.length;
  root.start = store(shortContent);
  const shortTable = store(words(shortFat));
  const directory = store(Buffer.concat(entries.map(directoryEntry)));
  const fatSectors = Math.ceil((fat.length + Math.ceil(fat.length / 126) + 1) / (SECTOR / 4));
  const fatStart = sectors.length;
  const table = words([...fat, ...Array.from({ length: fatSectors }, () => 0xfffffffd)]);
  const header = headerOf({ directory, shortTable, shortSectors: shortFat.length > 0 ? 1 : 0, fatStart, fatSectors });
  const padded = Buffer.alloc(fatSectors * SECTOR, 0xff);
  table.copy(padded);
  return new Uint8Array(Buffer.concat([header, ...sectors, padded]));
}

const words = (numbers: readonly number[]): Buffer => Buffer.from(Uint32Array.from(numbers).buffer);

function directoryEntry({ name, kind, child, right, start, size }: Entry): Buffer {
  const entry = Buffer.alloc(128);
  entry.write(name, 'utf16le');
  entry.writeUInt16LE((name.length + 1) * 2, 64);
  entry[66] = kind;
  entry.writeUInt32LE(NONE, 68);
  entry.writeUInt32LE(right, 72);
  entry.writeUInt32LE(child, 76);
  entry.writeUInt32LE(start, 116);
  entry.writeUInt32LE(size, 120);
  return entry;
}

interface Places {
  readonly directory: number;
  readonly shortTable: number;
  readonly shortSectors: number;
  readonly fatStart: number;
  readonly fatSectors: number;
}

function headerOf({ directory, shortTable, shortSectors, fatStart, fatSectors }: Places): Buffer {
  const header = Buffer.alloc(SECTOR);
  header.write('d0cf11e0a1b11ae1', 'hex');
  header.writeUInt16LE(3, 0x1a);
  header.writeUInt16LE(0xfffe, 0x1c);
  header.writeUInt16LE(9, 0x1e);
  header.writeUInt16LE(6, 0x20);
  header.writeUInt32LE(fatSectors, 0x2c);
  header.writeUInt32LE(directory, 0x30);
  header.writeUInt32LE(SHORT_BELOW, 0x38);
  header.writeUInt32LE(shortTable, 0x3c);
  header.writeUInt32LE(shortSectors, 0x40);
  header.writeUInt32LE(END, 0x44);
  for (let n = 0; n < 109; n++) header.writeUInt32LE(n < fatSectors ? fatStart + n : NONE, 0x4c + n * 4);
  return header;
}
