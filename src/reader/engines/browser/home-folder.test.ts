import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, expect, it, vi } from 'vitest';
import { createHomeFolder } from './home-folder.ts';

afterEach(() => vi.unstubAllEnvs());

it.runIf(process.platform === 'linux').each([undefined, 'elsewhere'])(
  'has the fonts of the user and nothing else, and leaves them when it goes (data in %j)',
  (data) => {
    const folder = mkdtempSync(path.join(os.tmpdir(), 'lectern-home-'));
    const user = path.join(folder, 'user');
    const fonts = [path.join(user, data ?? '.local/share', 'fonts'), path.join(user, '.fonts')];
    for (const [at, place] of fonts.entries()) {
      mkdirSync(place, { recursive: true });
      writeFileSync(path.join(place, `font-${at}.ttf`), 'a font');
    }
    writeFileSync(path.join(user, '.secret'), 'a secret');
    vi.stubEnv('HOME', user);
    vi.stubEnv('XDG_DATA_HOME', data && path.join(user, data));

    const launch = path.join(folder, 'launch');
    const home = createHomeFolder(launch);
    expect(readdirSync(path.join(home, '.local/share/fonts'))).toEqual(['font-0.ttf']);
    expect(readdirSync(path.join(home, '.fonts'))).toEqual(['font-1.ttf']);
    expect(readdirSync(home).toSorted()).toEqual(['.fonts', '.local']);

    rmSync(launch, { recursive: true });
    expect(fonts.map((place, at) => readFileSync(path.join(place, `font-${at}.ttf`), 'utf8'))).toEqual([
      'a font',
      'a font',
    ]);
    rmSync(folder, { recursive: true });
  },
);
