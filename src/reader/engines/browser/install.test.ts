// Full run only: runs npm.
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { QUIET } from '../../../../scripts/npm-quiet.mjs';
import { installBrowser, NPM_FLAGS, removeBrowser } from './install.ts';

it.runIf(process.platform === 'linux' && process.arch === 'x64')(
  'gives up on a registry that does not answer, and leaves nothing behind',
  { timeout: 60_000 },
  async () => {
    const folder = await mkdtemp(path.join(os.tmpdir(), 'browser-'));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const silent = createServer().listen(0, '127.0.0.1');
    await once(silent, 'listening');
    onTestFinished(() => void silent.close());
    vi.stubEnv('npm_config_registry', `http://127.0.0.1:${(silent.address() as AddressInfo).port}`);
    vi.stubEnv('npm_config_cache', path.join(folder, 'cache'));
    const lines: string[] = [];
    const work = installBrowser({ folder, log: (line) => lines.push(line), stallMs: 3_000 });
    await expect(work).rejects.toThrow('the package registry sent nothing for 3 s');
    expect(lines).toEqual([expect.stringMatching(/^downloading Chromium .* gives up if nothing arrives for 3 s$/)]);
    expect(await readdir(folder)).toEqual(existsSync(path.join(folder, 'cache')) ? ['cache'] : []);
  },
);

it('calls npm like the set-up', () => {
  expect(NPM_FLAGS).toEqual(QUIET);
});

it('removes only the link to a browser that other data folders use', async () => {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'browser-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const shared = path.join(folder, 'shared');
  await mkdir(shared);
  await writeFile(path.join(shared, 'browser.json'), '{}');
  await symlink(shared, path.join(folder, 'browser'));
  expect(await removeBrowser(path.join(folder, 'browser'))).toBe(true);
  expect(await readdir(folder)).toEqual(['shared']);
  expect(await readdir(shared)).toEqual(['browser.json']);
});
