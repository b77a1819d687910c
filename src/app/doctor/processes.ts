/** What Linux tells of processes and their connections (proc(5)): who was started by whom, with what, and who talks to whom. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

const TABLES = ['tcp', 'tcp6', 'udp', 'udp6'] as const;

export interface Connection {
  /** `tcp 198.51.100.7 443`. */
  readonly remote: string;
  /** Of the socket, as its process names it. */
  readonly inode: string;
}

/** A process and all that it has started, so far as they are there. */
export function processTree(pid: number): number[] {
  const parents = new Map<number, number>();
  for (const name of list('/proc')) if (/^\d+$/.test(name)) parents.set(Number(name), parentOf(Number(name)));
  const family = new Set([pid]);
  for (let before = 0; before < family.size; ) {
    before = family.size;
    for (const [child, parent] of parents) if (family.has(parent)) family.add(child);
  }
  return [...family];
}

/** Who started it: field 4 of its status; the second, in brackets, may hold anything. */
export function parentOf(pid: number): number {
  const stat = read(`/proc/${pid}/stat`);
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
}

/** Its variables as it was started with them; undefined where the system does not tell, and for threads of the kernel. */
export function environmentOf(pid: number): ReadonlyMap<string, string> | undefined {
  const lines = read(`/proc/${pid}/environ`)
    .split('\0')
    .filter((line) => line.includes('='));
  if (!lines.length) return undefined;
  return new Map(lines.map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]));
}

export const nameOf = (pid: number): string => read(`/proc/${pid}/comm`).trim();

/** The inodes of its sockets. */
export const socketsOf = (pid: number): string[] =>
  list(`/proc/${pid}/fd`).flatMap((fd) => /^socket:\[(\d+)\]$/.exec(linkOf(`/proc/${pid}/fd/${fd}`))?.[1] ?? []);

/** All of this network whose far end is another machine: of TCP, and of UDP where a socket has one. */
export const remoteConnections = (): Connection[] =>
  TABLES.flatMap((table) =>
    read(`/proc/net/${table}`)
      .split('\n')
      .slice(1)
      .flatMap((line) => {
        const fields = line.trim().split(/\s+/);
        const [address = '', port = ''] = (fields[2] ?? '').split(':');
        if (port === '' || isOwn(bytesOf(address))) return [];
        const remote = `${table} ${textOf(bytesOf(address))} ${Number.parseInt(port, 16)}`;
        return [{ remote, inode: fields[9] ?? '' }];
      }),
  );

/** Words of 32 bits, each as this machine keeps it: on all that Node runs on, the last byte first. */
const bytesOf = (hex: string): number[] =>
  (hex.match(/.{8}/g) ?? []).flatMap((word) => [...Buffer.from(word, 'hex').reverse()]);

/** Of loopback, or of a socket that has no far end. */
function isOwn(bytes: readonly number[]): boolean {
  const isZero = (part: readonly number[]) => part.every((byte) => byte === 0);
  const last = bytes.slice(-4);
  const isMapped = bytes.length === 16 && isZero(bytes.slice(0, 10)) && bytes[10] === 255 && bytes[11] === 255;
  if (bytes.length === 4 || isMapped) return last[0] === 127 || isZero(last);
  return isZero(bytes.slice(0, 15)) && bytes[15]! <= 1;
}

function textOf(bytes: readonly number[]): string {
  if (bytes.length === 4) return bytes.join('.');
  return (Buffer.from(bytes).toString('hex').match(/.{4}/g) ?? []).join(':');
}

/** What has ended meanwhile, and what belongs to another user, has nothing to tell. */
function read(file: string): string {
  try {
    return readFileSync(file, 'latin1');
  } catch {
    return '';
  }
}

function list(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function linkOf(file: string): string {
  try {
    return readlinkSync(file);
  } catch {
    return '';
  }
}
