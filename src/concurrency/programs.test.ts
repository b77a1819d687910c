import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createProgramFolder, endOrphanedPrograms, killGroup, openServerFolder } from './programs.ts';

let dir: string;
beforeAll(() => {
  dir = mkdtempSync(path.join(os.tmpdir(), 'lectern-programs-'));
});
afterAll(() => rmSync(dir, { recursive: true }));

/** Creates a folder as left behind by a server that was killed. */
const leftFolder = (name: string) => {
  const folder = path.join(dir, 'programs', `999999-${name}`);
  mkdirSync(folder, { recursive: true });
  return folder;
};
const remember = (folder: string, pid: number | undefined) =>
  writeFileSync(path.join(folder, 'job.json'), JSON.stringify({ server: 999_999, serverStart: '1', pid }));
const start = (cwd: string, ...args: string[]) =>
  spawn('/bin/sh', ['-c', 'sleep 600; exit', ...args], { detached: true, stdio: 'ignore', cwd });

describe.runIf(process.platform === 'linux')('programs of a server that has ended', () => {
  it('are killed if their folder belongs to it; those of a running server are not', async () => {
    const [named, within] = [leftFolder('named'), leftFolder('within')];
    const orphans = [start('/', named), start(within)];
    remember(named, orphans[0]!.pid);
    remember(within, orphans[1]!.pid);
    const own = await createProgramFolder(dir);
    const ours = start(own.path);
    own.recordProcess(ours.pid!);
    const gone = Promise.all(orphans.map((orphan) => once(orphan, 'close')));
    await endOrphanedPrograms(dir);
    await gone;
    expect(readdirSync(path.join(dir, 'programs'))).toEqual([path.basename(own.path)]);
    expect(ours.exitCode).toBeNull();
    killGroup(ours.pid!);
    expect(await once(ours, 'close')).toEqual([null, 'SIGKILL']);
    await own.remove();
  });

  it('are not killed if their process id belongs to another program by now', async () => {
    const folder = leftFolder('other');
    const other = start('/');
    remember(folder, other.pid);
    await endOrphanedPrograms(dir);
    expect(readdirSync(path.join(dir, 'programs'))).toEqual([]);
    expect(other.exitCode).toBeNull();
    killGroup(other.pid!);
    expect(await once(other, 'close')).toEqual([null, 'SIGKILL']);
  });
});

it.runIf(process.platform === 'linux')(
  'servers on one folder leave each other alone, and clear up after the dead',
  async () => {
    const root = path.join(dir, 'tmp');
    const beside = await openServerFolder(root);
    mkdirSync(path.join(root, '999999-1-gone', 'half a file'), { recursive: true });
    // The process id has since been reused by another process.
    mkdirSync(path.join(root, `${process.pid}-1-earlier`));
    const own = await openServerFolder(root);
    expect(readdirSync(root).sort()).toEqual([path.basename(beside), path.basename(own)].sort());
  },
);

it('does nothing if no folder was left', async () => {
  await endOrphanedPrograms(path.join(dir, 'not', 'there'));
});
