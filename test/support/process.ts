/** Starts the server as a separate process, as users do. */
import { readdirSync, readFileSync } from 'node:fs';
import { programFile } from './program.ts';
import { type ServerProcess, serveProgram } from './serve-program.ts';

export type { ServerProcess } from './serve-program.ts';

// Built before the time limit of any test starts.
const PROGRAM = await programFile();

/** A small file system that only the server can see, with a folder `t` in it. */
export interface SmallDisk {
  readonly onto: string;
  readonly bytes: number;
}

/** Starts `lectern serve` and waits until it prints its URLs or exits. */
export function startProcess(
  environment: Record<string, string>,
  ...args: (string | SmallDisk)[]
): Promise<ServerProcess> {
  const disk = args.find((argument) => typeof argument === 'object');
  const flags = args.filter((argument) => typeof argument === 'string');
  return serveProgram(PROGRAM, environment, flags, disk && onSmallDisk(disk));
}

/** The shell replaces itself with the server, so that both have the same process id. */
const onSmallDisk = ({ onto, bytes }: SmallDisk): string[] => [
  ...['unshare', '-rm', 'sh', '-c'],
  'mount -t tmpfs -o size=$1 tmpfs "$0" && mkdir "$0/t" && shift && exec "$@"',
  ...[onto, String(bytes)],
];

/** The running processes whose command line contains a text. */
export const pidsWith = (text: string): number[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .filter((name) => {
      try {
        return readFileSync(`/proc/${name}/cmdline`, 'utf8').replaceAll('\0', ' ').includes(text);
      } catch {
        return false;
      }
    })
    .map(Number);
