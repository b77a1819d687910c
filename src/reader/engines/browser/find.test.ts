import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { findBrowser } from './find.ts';

let root = '';
beforeEach(() => {
  root = mkdtempSync(path.join(os.tmpdir(), 'lectern-find-'));
});
afterEach(() => rmSync(root, { recursive: true }));

function program(...at: string[]): string {
  const file = path.join(root, ...at);
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, '#!/bin/sh\n');
  chmodSync(file, 0o755);
  return file;
}

const find = (configured?: string, more: Record<string, string> = {}) =>
  findBrowser({
    configured,
    dataDir: path.join(root, 'data'),
    environment: { PATH: path.join(root, 'bin'), HOME: path.join(root, 'home'), ...more },
    platform: 'linux',
  });

it('prefers the configured browser, then PATH, then Playwright, then the unpacked one', () => {
  expect(find()).toBeNull();
  const unpacked = program('data/browser/1.0.0/chromium');
  writeFileSync(
    path.join(root, 'data/browser/browser.json'),
    JSON.stringify({ version: '1.0.0', executable: '1.0.0/chromium', libraries: '1.0.0/lib', fonts: null }),
  );
  expect(find()).toEqual({
    path: unpacked,
    source: 'unpacked',
    env: { LD_LIBRARY_PATH: path.join(root, 'data/browser/1.0.0/lib') },
  });
  program('home/.cache/ms-playwright/chromium-1000/chrome-linux/chrome');
  const shell = program(
    'home/.cache/ms-playwright/chromium_headless_shell-1200/chrome-headless-shell-linux64/chrome-headless-shell',
  );
  expect(find()).toEqual({ path: shell, source: 'playwright' });
  const moved = program('elsewhere/chromium-1/chrome-linux/chrome');
  expect(find(undefined, { PLAYWRIGHT_BROWSERS_PATH: path.join(root, 'elsewhere') })).toEqual({
    path: moved,
    source: 'playwright',
  });
  const chrome = program('bin/google-chrome');
  expect(find()).toEqual({ path: chrome, source: 'path' });
  const own = program('own/browser');
  expect(find(own)).toEqual({ path: own, source: 'configured' });
});

it('uses only the configured browser, and none with `none`', () => {
  program('bin/chromium');
  expect(find(path.join(root, 'nothing'))).toBeNull();
  expect(find('none')).toBeNull();
});

it('skips files that are not executable', () => {
  chmodSync(program('bin/chromium'), 0o644);
  const next = program('bin/google-chrome');
  expect(find()?.path).toBe(next);
});

it('finds the browser that the user installed for all data folders', () => {
  const file = program('home/.local/share/lectern/browser/1.0.0/chromium');
  const manifest = { version: '1.0.0', executable: '1.0.0/chromium', libraries: null, fonts: '1.0.0/fonts.conf' };
  writeFileSync(path.join(root, 'home/.local/share/lectern/browser/browser.json'), JSON.stringify(manifest));
  const env = { FONTCONFIG_FILE: path.join(root, 'home/.local/share/lectern/browser/1.0.0/fonts.conf') };
  expect(find()).toEqual({ path: file, source: 'unpacked', env });
});
