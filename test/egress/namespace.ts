/** Runs a script of this folder in a separate network namespace, in which every outgoing connection is recorded. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { findProgram } from '../support/start-services.ts';

const HERE = import.meta.dirname;
const UNSHARE = findProgram('unshare') ?? '';
const ENTER = path.join(HERE, 'enter.sh');
/** Ordinary users need a user namespace first. Root does not, and may not be allowed to create one. */
const NAMESPACE_FLAGS = [
  ['--user', '--map-root-user', '--net', '--mount'],
  ['--net', '--mount'],
] as const;

/** Arguments of `unshare` that work on this machine, or the reason why none of them do. */
export function findWay(): { readonly way?: readonly string[]; readonly refusal?: string } {
  if (process.platform !== 'linux') return { refusal: 'network namespaces need Linux' };
  if (UNSHARE === '') return { refusal: 'unshare is not installed' };
  let refusal = '';
  for (const way of NAMESPACE_FLAGS) {
    const folder = mkdtempSync(path.join(os.tmpdir(), 'lectern-egress-'));
    try {
      const { status, stderr, error } = spawnSync(UNSHARE, [...way, 'sh', ENTER, folder, 'true'], {
        encoding: 'utf8',
      });
      if (status === 0) return { way };
      refusal = error?.message ?? stderr.trim();
    } finally {
      rmSync(folder, { recursive: true });
    }
  }
  return { refusal: `no network namespace can be created: that needs ip and permission (${refusal})` };
}

export interface Inside {
  readonly way: readonly string[];
  readonly script: string;
  readonly folder: string;
  readonly environment: Readonly<Record<string, string>>;
}

/** Runs a script and returns the JSON that it prints. Kills all processes that it leaves running. */
export async function runInside<T>({ way, script, folder, environment }: Inside): Promise<T> {
  const program = [process.execPath, '--conditions=source', '--import', 'tsx', path.join(HERE, script)];
  const child = spawn(UNSHARE, [...way, 'sh', ENTER, folder, ...program], {
    cwd: path.resolve(HERE, '../..'),
    env: environment,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  try {
    const [out, error, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
    if (code !== 0) throw new Error(`${script} ended with ${code}: ${error.trim()}`);
    return JSON.parse(out) as T;
  } finally {
    try {
      process.kill(-child.pid!, 'SIGKILL');
    } catch {
      // All processes had already exited.
    }
  }
}
