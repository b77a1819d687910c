/**
 * Finds the browser: the configured one, else one on PATH, else one that Playwright installed, else the one that was
 * unpacked (`install.ts`) into the data folder or the user's data folder.
 */
import { accessSync, constants, readdirSync, readFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

export interface FoundBrowser {
  readonly path: string;
  readonly source: 'configured' | 'path' | 'playwright' | 'unpacked';
  /** Additional environment variables for the browser process. */
  readonly env?: Readonly<Record<string, string>>;
}

interface SearchOptions {
  /** LECTERN_BROWSER: a path, or `none` to use no browser. */
  readonly configured?: string | undefined;
  readonly dataDir: string;
  readonly environment?: Readonly<Record<string, string | undefined>>;
  readonly platform?: NodeJS.Platform;
}

const NAMES = [
  'chromium',
  'chromium-browser',
  'google-chrome',
  'google-chrome-stable',
  'chrome',
  'microsoft-edge',
  'microsoft-edge-stable',
  'msedge',
];

const INSTALLED_NAMES = /^(headless_shell|chrome-headless-shell|chrome|Chromium|Google Chrome for Testing)(\.exe)?$/;

/** Paths of Chrome and similar browsers that are installed without being on PATH. */
const USUAL_PATHS: Partial<Record<NodeJS.Platform, readonly string[]>> = {
  darwin: [
    '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
    '/Applications/Chromium.app/Contents/MacOS/Chromium',
    '/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge',
  ],
  win32: [
    'C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe',
    'C:\\Program Files (x86)\\Google\\Chrome\\Application\\chrome.exe',
    'C:\\Program Files (x86)\\Microsoft\\Edge\\Application\\msedge.exe',
  ],
};

/** Returns the browser, or null if there is none. If a path is configured, no other browser is used. */
export function findBrowser({
  configured,
  dataDir,
  environment = process.env,
  platform = process.platform,
}: SearchOptions) {
  if (configured === 'none') return null;
  if (configured) return executable(configured) ? found(configured, 'configured') : null;
  return (
    found(onPath(environment, platform), 'path') ??
    found(installedByPlaywright(environment, platform), 'playwright') ??
    unpacked(path.resolve(dataDir, 'browser')) ??
    unpacked(userBrowserFolder(environment))
  );
}

/** Where `lectern browser install` unpacks the browser, for all data folders of this user (XDG Base Directory). */
export function userBrowserFolder(environment: SearchOptions['environment'] = process.env): string {
  const home = environment.HOME ?? os.homedir();
  return path.join(environment.XDG_DATA_HOME || path.join(home, '.local', 'share'), 'lectern', 'browser');
}

const found = (file: string | undefined, source: FoundBrowser['source']): FoundBrowser | null =>
  file === undefined ? null : { path: file, source };

function executable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function onPath(environment: SearchOptions['environment'], platform: NodeJS.Platform): string | undefined {
  const suffix = platform === 'win32' ? '.exe' : '';
  const folders = (environment?.PATH ?? '').split(path.delimiter).filter(Boolean);
  const named = NAMES.flatMap((name) => folders.map((folder) => path.join(folder, name + suffix)));
  return [...named, ...(USUAL_PATHS[platform] ?? [])].find(executable);
}

/** Folder names and depths differ by Playwright version and platform, so the folders are searched, newest first. */
function installedByPlaywright(
  environment: SearchOptions['environment'],
  platform: NodeJS.Platform,
): string | undefined {
  const root = playwrightFolder(environment, platform);
  const installed = list(root).filter((name) => name.startsWith('chromium'));
  installed.sort((a, b) => revision(b) - revision(a));
  for (const name of installed)
    for (const part of list(path.join(root, name))) {
      const inner = path.join(root, name, part);
      const apps = list(inner).filter((entry) => entry.endsWith('.app'));
      for (const folder of [inner, ...apps.map((app) => path.join(inner, app, 'Contents/MacOS'))]) {
        const file = list(folder).find((entry) => INSTALLED_NAMES.test(entry) && executable(path.join(folder, entry)));
        if (file) return path.join(folder, file);
      }
    }
  return undefined;
}

const revision = (folder: string) => Number(folder.split('-').pop()) || 0;

/** https://playwright.dev/docs/browsers#managing-browser-binaries */
function playwrightFolder(environment: SearchOptions['environment'] = {}, platform: NodeJS.Platform): string {
  const home = environment.HOME ?? os.homedir();
  if (environment.PLAYWRIGHT_BROWSERS_PATH) return environment.PLAYWRIGHT_BROWSERS_PATH;
  if (platform === 'darwin') return path.join(home, 'Library/Caches/ms-playwright');
  if (platform === 'win32')
    return path.join(environment.LOCALAPPDATA ?? path.join(home, 'AppData/Local'), 'ms-playwright');
  return path.join(environment.XDG_CACHE_HOME || path.join(home, '.cache'), 'ms-playwright');
}

function list(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function unpacked(folder: string): FoundBrowser | null {
  try {
    const manifest = JSON.parse(readFileSync(path.join(folder, 'browser.json'), 'utf8'));
    const file = path.join(folder, manifest.executable);
    if (!executable(file)) return null;
    const env: Record<string, string> = {};
    if (manifest.libraries) env.LD_LIBRARY_PATH = path.join(folder, manifest.libraries);
    if (manifest.fonts) env.FONTCONFIG_FILE = path.join(folder, manifest.fonts);
    return { path: file, source: 'unpacked', env };
  } catch {
    return null;
  }
}
