/** Reads processes, their environments and their connections from Linux's /proc (proc(5)). */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import path from 'node:path';

const TABLES = ['tcp', 'tcp6', 'udp', 'udp6'] as const;

export interface Connection {
  /** For example `tcp 198.51.100.7 443`. */
  readonly remote: string;
  /** The inode of the socket, by which processes refer to it. */
  readonly inode: string;
}

/** The ids of a process and its running descendants. */
export function processTree(pid: number): number[] {
  const parents = new Map<number, number>();
  for (const name of list('/proc')) if (/^\d+$/.test(name)) parents.set(Number(name), parentOf(Number(name)));
  const tree = new Set([pid]);
  for (let before = 0; before < tree.size; ) {
    before = tree.size;
    for (const [child, parent] of parents) if (tree.has(parent)) tree.add(child);
  }
  return [...tree];
}

/** The id of the parent process: field 4 of `stat`. Field 2, the name in parentheses, may contain any character. */
export function parentOf(pid: number): number {
  const stat = read(`/proc/${pid}/stat`);
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
}

/** The environment with which a process was started; `undefined` if it cannot be read, as for kernel threads. */
export function environmentOf(pid: number): ReadonlyMap<string, string> | undefined {
  const lines = read(`/proc/${pid}/environ`)
    .split('\0')
    .filter((line) => line.includes('='));
  if (!lines.length) return undefined;
  return new Map(lines.map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]));
}

/**
 * The name of the program that a process runs. `comm` is the name of its main thread, which is `MainThread` since Node.js 24,
 * and the only name if the process belongs to another user.
 */
export const nameOf = (pid: number): string =>
  path.basename(linkOf(`/proc/${pid}/exe`)).replace(/ \(deleted\)$/, '') || read(`/proc/${pid}/comm`).trim();

/** The inodes of the sockets of a process. */
export const socketsOf = (pid: number): string[] =>
  list(`/proc/${pid}/fd`).flatMap((fd) => /^socket:\[(\d+)\]$/.exec(linkOf(`/proc/${pid}/fd/${fd}`))?.[1] ?? []);

/** All connections to other machines in this network namespace: TCP connections, and connected UDP sockets. */
export const remoteConnections = (): Connection[] =>
  TABLES.flatMap((table) =>
    read(`/proc/net/${table}`)
      .split('\n')
      .slice(1)
      .flatMap((line) => {
        const fields = line.trim().split(/\s+/);
        const [address = '', port = ''] = (fields[2] ?? '').split(':');
        if (port === '' || isLocal(bytesOf(address))) return [];
        const remote = `${table} ${textOf(bytesOf(address))} ${Number.parseInt(port, 16)}`;
        return [{ remote, inode: fields[9] ?? '' }];
      }),
  );

/** The addresses are 32-bit words in the byte order of the machine, which is assumed to be little-endian. */
const bytesOf = (hex: string): number[] =>
  (hex.match(/.{8}/g) ?? []).flatMap((word) => [...Buffer.from(word, 'hex').reverse()]);

/** Whether an IP address is a loopback address, or all zeros (the socket is not connected). */
function isLocal(bytes: readonly number[]): boolean {
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

/** The content of a file; empty if the process has ended or belongs to another user. */
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
