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

/** A folder as a process would have that is not there: of a number that no process has. */
function deserted(name = 'lectern-zzzzz9-1-abcdef', age: 'old' | 'young' = 'old'): string {
  const folder = path.join(base, name);
  mkdirSync(path.join(folder, '.org.chromium.Chromium.AbCdEf'), { recursive: true });
  writeFileSync(path.join(folder, 'left'), 'left');
  if (age === 'old') utimesSync(folder, new Date(0), new Date(0));
  return folder;
}

describe.skipIf(process.platform === 'win32')('the folder of a process', () => {
  it('is this user’s alone, short, and removed at its end', async () => {
    const folder = await openProcessFolder(base);
    expect(path.dirname(folder.path)).toBe(base);
    expect(path.basename(folder.path).length).toBeLessThan(32);
    expect(statSync(folder.path).mode & 0o777).toBe(0o700);
    folder.remove();
    expect(readdirSync(base)).toEqual([]);
  });

  it('goes with the next start when its process was killed, and stays while it lives', async () => {
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

  it('stays while somebody listens in it, whose number means nothing here', async () => {
    const listened = deserted();
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

  it('is told from folders of others, and from one that is just being made', async () => {
    const gone = deserted();
    const kept = [
      deserted('lectern-zzzzz8-1-abcdef', 'young'),
      deserted('lectern-notes'),
      deserted('.org.chromium.Chromium.XyZ123'),
      deserted('playwright_chromiumdev_profile-AbCdEf'),
    ];
    if (process.getuid?.() === 0) {
      const others = deserted('lectern-zzzzz7-1-abcdef');
      chownSync(others, 12_345, 12_345);
      kept.push(others);
    }
    (await openProcessFolder(base)).remove();
    expect(existsSync(gone)).toBe(false);
    expect(kept.map(existsSync)).toEqual(kept.map(() => true));
  });
});
