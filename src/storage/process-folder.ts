/**
 * A folder of this process in the system's folder for temporary files: for what its libraries and the programs that it
 * starts put there under names of their own. A process that is killed cannot remove it, so each that comes later removes
 * those whose owner is gone. The owner is told by its number and its start, and beyond a container by a socket on which
 * it listens. The path is short, since sockets lie in it (108 bytes at most).
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
  /** Removes it at once, for the end of the process. */
  remove(): void;
}

const NAME = /^lectern-([0-9a-z]+)-([0-9a-z]+)-[0-9a-f]{6}$/;
const SOCKET = 'owner';
/** A folder younger than this may have a socket on which nobody listens yet. */
const YOUNG_MS = 60_000;
/** Of the folder around ours: what Chromium makes in it has 45 more, ours some 25. */
const LONGEST_BASE = 36;

export async function openProcessFolder(base: string = temporaryBase()): Promise<ProcessFolder> {
  await removeDeserted(base).catch(() => {});
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

/** A process that was started by one of us has its folder beside that one's, and not in it. */
function temporaryBase(): string {
  const given = os.tmpdir();
  const base = NAME.test(path.basename(given)) ? path.dirname(given) : given;
  return process.platform === 'linux' && base.length > LONGEST_BASE ? '/tmp' : base;
}

/** Removes folders of this user whose process is gone. */
async function removeDeserted(base: string): Promise<void> {
  for (const name of await readdir(base)) {
    const [, pid, start] = NAME.exec(name) ?? [];
    if (pid === undefined || start === undefined) continue;
    const folder = path.join(base, name);
    if (isProcessRunning(Number.parseInt(pid, 36), String(Number.parseInt(start, 36)))) continue;
    const { uid, mtimeMs } = await stat(folder);
    if (process.getuid && uid !== process.getuid()) continue;
    if (await isDeserted(path.join(folder, SOCKET), Date.now() - mtimeMs < YOUNG_MS))
      await rm(folder, { recursive: true, force: true, maxRetries: 3 });
  }
}

/** Whether nobody listens: the owner may be a process of another container, whose number means nothing here. */
const isDeserted = (socketPath: string, isYoung: boolean): Promise<boolean> =>
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
