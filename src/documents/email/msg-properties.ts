/** The properties of a message, recipient or attachment in an Outlook file (MS-OXMSG, 2.4). */
import type { OleStorage } from '../archive/ole.ts';
import { type Charset, charsetOfPage } from '../office/rtf/charsets.ts';

export interface Properties {
  /** '' if the property is missing. */
  text(id: number): string;
  bytes(id: number): Uint8Array | undefined;
  number(id: number): number | undefined;
  /** ISO 8601. */
  time(id: number): string | undefined;
  /** Of texts that are not in Unicode. */
  readonly charset: Charset;
}

const ENTRY_BYTES = 16;
const TYPE_INTEGER = 0x0003;
const TYPE_BOOLEAN = 0x000b;
const TYPE_TIME = 0x0040;
const CODE_PAGES = [0x3ffd, 0x3fde];
const DEFAULT_PAGE = 1252;
/** Milliseconds between 1601, where file times begin, and 1970. */
const EPOCH_MS = 11_644_473_600_000;

const key = (id: number, type: string): string =>
  `__substg1.0_${id.toString(16).padStart(4, '0')}${type}`.toLowerCase();

/** Values of variable length are streams of their own; the others are in a table after the header. */
export function readProperties(storage: OleStorage, headerBytes: number, charset?: Charset): Properties {
  const streams = new Map(storage.streams.map((stream) => [stream.name.toLowerCase(), stream]));
  const fixed = readFixed(streams.get('__properties_version1.0')?.read() ?? new Uint8Array(), headerBytes);
  const number = (id: number) => fixed.get(id)?.number;
  const page = CODE_PAGES.map(number).find((value) => value !== undefined && value > 0);
  const own = charset ?? charsetOfPage(page ?? DEFAULT_PAGE);
  return {
    charset: own,
    number,
    time: (id) => fixed.get(id)?.time,
    bytes: (id) => streams.get(key(id, '0102'))?.read(),
    text(id) {
      const unicode = streams.get(key(id, '001F'))?.read();
      if (unicode) return withoutEnd(Buffer.from(unicode).toString('utf16le'));
      const bytes = streams.get(key(id, '001E'))?.read();
      return bytes ? withoutEnd(own.decode(bytes)) : '';
    },
  };
}

const withoutEnd = (text: string): string => text.replace(/(?<!\0)\0+$/, '');

interface FixedValue {
  readonly number?: number;
  readonly time?: string | undefined;
}

function readFixed(table: Uint8Array, headerBytes: number): ReadonlyMap<number, FixedValue> {
  const view = new DataView(table.buffer, table.byteOffset, table.byteLength);
  const values = new Map<number, FixedValue>();
  for (let at = headerBytes; at + ENTRY_BYTES <= table.length; at += ENTRY_BYTES) {
    const type = view.getUint16(at, true);
    const id = view.getUint16(at + 2, true);
    if (type === TYPE_INTEGER) values.set(id, { number: view.getInt32(at + 8, true) });
    else if (type === TYPE_BOOLEAN) values.set(id, { number: table[at + 8]! });
    else if (type === TYPE_TIME) values.set(id, { time: isoTime(view.getBigUint64(at + 8, true)) });
  }
  return values;
}

/** File times count tenths of a microsecond since 1601. */
function isoTime(value: bigint): string | undefined {
  const ms = Number(value / 10_000n) - EPOCH_MS;
  return ms > 0 && ms < Date.UTC(9999, 0) ? new Date(ms).toISOString() : undefined;
}
