import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openProcessFolder } from './process-folder.ts';

let base: string;
beforeEach(() => {
  base = mkdtempSync(path.join(os.tmpdir(), 'pf-'));
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

/** Creates the folder of a process that does not exist. */
function abandoned(name = 'lectern-zzzzz9-1-abcdef', age: 'old' | 'young' = 'old'): string {
  const folder = path.join(base, name);
  mkdirSync(path.join(folder, '.org.chromium.Chromium.AbCdEf'), { recursive: true });
  writeFileSync(path.join(folder, 'left'), 'left');
  if (age === 'old') utimesSync(folder, new Date(0), new Date(0));
  return folder;
}

describe.skipIf(process.platform === 'win32')('the process folder', () => {
  it('is private to its user, has a short path and is removed on exit', async () => {
    const folder = await openProcessFolder(base);
    expect(path.dirname(folder.path)).toBe(base);
    expect(path.basename(folder.path).length).toBeLessThan(32);
    expect(statSync(folder.path).mode & 0o777).toBe(0o700);
    folder.remove();
    expect(readdirSync(base)).toEqual([]);
  });

  it('is removed at the next start if its process was killed, and stays while the process runs', async () => {
    const script = `
      const { openProcessFolder } = await import(${JSON.stringify(new URL('./process-folder.ts', import.meta.url).href)});
      console.log((await openProcessFolder(${JSON.stringify(base)})).path);
      setInterval(() => {}, 60_000);`;
    const start = async () => {
      const options = ['--conditions=source', '--import', 'tsx', '--input-type=module', '-e', script];
      const child = spawn(process.execPath, options, { stdio: ['ignore', 'pipe', 'inherit'] });
      const [line] = (await once(child.stdout, 'data')) as [Buffer];
      return { child, folder: String(line).trim() };
    };
    const killed = await start();
    const alive = await start();
    killed.child.kill('SIGKILL');
    await once(killed.child, 'exit');
    const own = await openProcessFolder(base);
    expect(existsSync(killed.folder)).toBe(false);
    expect(existsSync(alive.folder)).toBe(true);
    alive.child.kill('SIGKILL');
    await once(alive.child, 'exit');
    own.remove();
  });

  it('stays while a process of another container listens on its socket', async () => {
    const listened = abandoned();
    rmSync(path.join(listened, 'left'));
    const program = 'require("net").createServer().listen(process.argv[1], () => console.log("ready"))';
    const child = spawn(process.execPath, ['-e', program, path.join(listened, 'owner')], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await once(child.stdout, 'data');
    (await openProcessFolder(base)).remove();
    expect(existsSync(listened)).toBe(true);
    child.kill('SIGKILL');
    await once(child, 'exit');
    (await openProcessFolder(base)).remove();
    expect(existsSync(listened)).toBe(false);
  });

  it('is removed only if its owner is this user, its name matches and it is not new', async () => {
    const removed = abandoned();
    const untouched = [
      abandoned('lectern-zzzzz8-1-abcdef', 'young'),
      abandoned('lectern-notes'),
      abandoned('.org.chromium.Chromium.XyZ123'),
      abandoned('playwright_chromiumdev_profile-AbCdEf'),
    ];
    if (process.getuid?.() === 0) {
      const others = abandoned('lectern-zzzzz7-1-abcdef');
      chownSync(others, 12_345, 12_345);
      untouched.push(others);
    }
    (await openProcessFolder(base)).remove();
    expect(existsSync(removed)).toBe(false);
    expect(untouched.map(existsSync)).toEqual(untouched.map(() => true));
  });
});
