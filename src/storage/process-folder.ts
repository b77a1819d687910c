/**
 * One folder per process inside the system's temporary folder. Libraries and child processes store their own temporary
 * files there. A killed process cannot remove its folder, so each later process removes the folders of processes that
 * no longer exist. The folder's name contains the process id and start time of its owner. A process in another
 * container is recognized by the socket on which it listens. The path is short because the folder contains sockets,
 * whose paths are limited to 108 bytes.
 */
import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { mkdir, readdir, rm, stat } from 'node:fs/promises';
import { connect, createServer, type Server } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { isProcessRunning, processStartTime } from '#concurrency/process-identity.ts';

export interface ProcessFolder {
  readonly path: string;
  /** Removes the folder synchronously, for use on process exit. */
  remove(): void;
}

const NAME = /^lectern-([0-9a-z]+)-([0-9a-z]+)-[0-9a-f]{6}$/;
const SOCKET = 'owner';
/** If a folder is younger than this, its owner may not be listening on its socket yet. */
const YOUNG_MS = 60_000;
/**
 * Maximum path length of the parent folder. Our folder adds about 25 characters, and Chromium's files in it add another
 * 45.
 */
const MAX_BASE_LENGTH = 36;

export async function openProcessFolder(base: string = temporaryBase()): Promise<ProcessFolder> {
  await removeAbandoned(base).catch(() => {});
  const [pid, start] = [process.pid, Number(processStartTime(process.pid))].map((number) => number.toString(36));
  const folder = path.join(base, `lectern-${pid}-${start}-${randomBytes(3).toString('hex')}`);
  await mkdir(folder, { mode: 0o700 });
  const server = process.platform === 'win32' ? undefined : await listen(path.join(folder, SOCKET));
  return {
    path: folder,
    remove() {
      server?.close();
      rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
    },
  };
}

/** A child process of another Lectern process creates its folder next to its parent's folder instead of inside it. */
function temporaryBase(): string {
  const given = os.tmpdir();
  const base = NAME.test(path.basename(given)) ? path.dirname(given) : given;
  return process.platform === 'linux' && base.length > MAX_BASE_LENGTH ? '/tmp' : base;
}

/** Removes this user's folders whose process has ended. */
async function removeAbandoned(base: string): Promise<void> {
  for (const name of await readdir(base)) {
    const [, pid, start] = NAME.exec(name) ?? [];
    if (pid === undefined || start === undefined) continue;
    const folder = path.join(base, name);
    if (isProcessRunning(Number.parseInt(pid, 36), String(Number.parseInt(start, 36)))) continue;
    const { uid, mtimeMs } = await stat(folder);
    if (process.getuid && uid !== process.getuid()) continue;
    if (await isAbandoned(path.join(folder, SOCKET), Date.now() - mtimeMs < YOUNG_MS))
      await rm(folder, { recursive: true, force: true, maxRetries: 3 });
  }
}

/**
 * Whether no process listens on the socket. Process ids from other containers have no meaning here, but their sockets
 * work.
 */
const isAbandoned = (socketPath: string, isYoung: boolean): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(socketPath);
    socket.once('connect', () => {
      socket.destroy();
      resolve(false);
    });
    socket.once('error', ({ code }: NodeJS.ErrnoException) =>
      resolve(code === 'ECONNREFUSED' || (code === 'ENOENT' && !isYoung)),
    );
  });

function listen(socketPath: string): Promise<Server> {
  const server = createServer((socket) => socket.destroy());
  server.unref();
  return new Promise((resolve, reject) => {
    server.once('error', reject).listen(socketPath, () => {
      server.off('error', reject);
      resolve(server);
    });
  });
}
