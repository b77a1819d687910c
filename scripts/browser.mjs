/**
 * Finds or installs the browser that renders pages. Part of the set-up of `npm start` and `npm test`; also a command:
 * `node scripts/browser.mjs`. It has no dependencies, because it runs before anything is installed or built.
 *
 * `<dataDir>/browser/browser.json` describes an unpacked browser, with paths relative to that folder:
 *   { "version": "1.2.3", "executable": "1.2.3/chromium", "libraries": "1.2.3/al2023/lib" | null,
 *     "fonts": "1.2.3/fonts.conf" | null }
 * src/reader/engines/browser/find.ts reads the same file. Its test checks that both agree.
 */
import { spawn, spawnSync } from 'node:child_process';
import { accessSync, constants, existsSync, readdirSync, readFileSync } from 'node:fs';
import { chmod, mkdir, rename, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { QUIET } from './npm-quiet.mjs';

export const MANIFEST = 'browser.json';

/** Program names of Chromium and Chrome on PATH. find.ts has the same list. */
export const NAMES = [
  'chromium',
  'chromium-browser',
  'google-chrome',
  'google-chrome-stable',
  'chrome',
  'microsoft-edge',
  'microsoft-edge-stable',
  'msedge',
];

const PINNED = fileURLToPath(new URL('./browser/', import.meta.url));
const HINT =
  'install Chromium or Chrome, run `npx playwright-core install --only-shell chromium`, or set LECTERN_BROWSER to its path';

/**
 * Returns the path of a browser, or null if none can be found or installed. Logs one line, with the path or with
 * instructions for getting a browser. `fresh` ignores installed browsers and unpacks the pinned one.
 */
export async function ensureBrowser({ dataDir, log = console.log, fresh = false }) {
  const folder = path.resolve(dataDir, 'browser');
  const configured = process.env.LECTERN_BROWSER;
  if (configured === 'none') {
    log('browser: none (LECTERN_BROWSER=none)');
    return null;
  }
  const found = (!fresh && (configured || findOnPath() || findPlaywright())) || findUnpacked(folder);
  if (found && isExecutable(found)) {
    log(`browser: ${found}`);
    return found;
  }
  if (found) log(`browser: LECTERN_BROWSER is ${found}, which is not executable`);
  const got = (await unpackFromRegistry(folder, log)) ?? (fresh ? null : installFromDebian(log));
  log(got ? `browser: ${got}` : `browser: none found; pages are read without running scripts. To add one, ${HINT}`);
  return got;
}

function isExecutable(file) {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function findOnPath() {
  const suffix = process.platform === 'win32' ? '.exe' : '';
  for (const name of NAMES)
    for (const folder of (process.env.PATH ?? '').split(path.delimiter)) {
      const file = path.join(folder, name + suffix);
      if (folder && isExecutable(file)) return file;
    }
  return null;
}

/** Finds a browser that Playwright installed. Folder names and depths differ by version, so two levels are searched. */
function findPlaywright() {
  const home = os.homedir();
  const root =
    process.env.PLAYWRIGHT_BROWSERS_PATH ||
    {
      linux: path.join(process.env.XDG_CACHE_HOME || path.join(home, '.cache'), 'ms-playwright'),
      darwin: path.join(home, 'Library/Caches/ms-playwright'),
      win32: path.join(process.env.LOCALAPPDATA ?? path.join(home, 'AppData/Local'), 'ms-playwright'),
    }[process.platform];
  if (!root || !existsSync(root)) return null;
  const names = /^(headless_shell|chrome-headless-shell|chrome|Chromium|Google Chrome for Testing)(\.exe)?$/;
  const installed = readdirSync(root)
    .filter((name) => name.startsWith('chromium'))
    .sort((a, b) => Number(b.split('-').pop()) - Number(a.split('-').pop()));
  for (const name of installed) {
    const inside = path.join(root, name);
    for (const part of listFolder(inside)) {
      const folders = [path.join(inside, part)];
      for (const app of listFolder(folders[0]).filter((entry) => entry.endsWith('.app')))
        folders.push(path.join(folders[0], app, 'Contents/MacOS'));
      for (const folder of folders)
        for (const file of listFolder(folder))
          if (names.test(file) && isExecutable(path.join(folder, file))) return path.join(folder, file);
    }
  }
  return null;
}

function listFolder(folder) {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** Returns the browser that an earlier run unpacked, if it has the pinned version. */
function findUnpacked(folder) {
  try {
    const manifest = JSON.parse(readFileSync(path.join(folder, MANIFEST), 'utf8'));
    const file = path.join(folder, manifest.executable);
    return manifest.version === pinnedVersion() && isExecutable(file) ? file : null;
  } catch {
    return null;
  }
}

const pinnedVersion = () =>
  JSON.parse(readFileSync(path.join(PINNED, 'package.json'), 'utf8')).dependencies['@sparticuz/chromium'];

async function unpackFromRegistry(folder, log) {
  if (process.platform !== 'linux' || process.arch !== 'x64') return null;
  const version = pinnedVersion();
  const work = path.join(folder, `unpacking-${process.pid}`);
  try {
    log(`browser: none found; unpacking Chromium ${version} from the package registry`);
    const install = path.join(work, 'package');
    await mkdir(install, { recursive: true });
    for (const name of ['package.json', 'package-lock.json'])
      await writeFile(path.join(install, name), readFileSync(path.join(PINNED, name)));
    // The package requires a newer Node, but the parts used here also run on 20.
    const npm = ['ci', '--ignore-scripts', ...QUIET, '--engine-strict=false', '--loglevel=error'];
    await run('npm', npm, { cwd: install });
    const out = path.join(work, 'out');
    await mkdir(out);
    await unpack(install, out);
    let manifest = manifestOf(version);
    if (!canStart(path.join(out, 'chromium'))) {
      await unpack(install, out, 'libraries');
      manifest = { ...manifest, libraries: `${version}/al2023/lib` };
      if (!canStart(path.join(out, 'chromium'), path.join(out, 'al2023/lib')))
        throw new Error('it does not start on this machine');
    }
    // The package makes the file executable only for the current user, but the server may run as a different user.
    await chmod(path.join(out, 'chromium'), 0o755);
    await writeFile(path.join(out, 'fonts.conf'), FONTS);
    await rm(path.join(folder, version), { recursive: true, force: true });
    await rename(out, path.join(folder, version));
    await writeFile(path.join(work, MANIFEST), `${JSON.stringify(manifest, null, 2)}\n`);
    await rename(path.join(work, MANIFEST), path.join(folder, MANIFEST));
    return path.join(folder, manifest.executable);
  } catch (error) {
    log(`browser: Chromium from the package registry failed: ${error.message}`);
    return null;
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

/** Returns the manifest of an unpacked browser that uses the system's libraries. */
export const manifestOf = (version) => ({
  version,
  executable: `${version}/chromium`,
  libraries: null,
  fonts: `${version}/fonts.conf`,
});

/** Unpacks the browser in a child process with its own TMPDIR, because the package unpacks to the temporary folder. */
async function unpack(install, out, what = 'browser') {
  const archive = path.join(install, 'node_modules/@sparticuz/chromium/bin/al2023.tar.br');
  const code =
    what === 'browser' ? 'chromium.default.executablePath()' : `chromium.inflate(${JSON.stringify(archive)})`;
  const script = `const chromium = await import('@sparticuz/chromium'); await ${code};`;
  const env = { ...process.env, TMPDIR: out };
  await run(process.execPath, ['--input-type=module', '-e', script], { cwd: install, env });
}

function canStart(file, libraries) {
  const env = libraries ? { ...process.env, LD_LIBRARY_PATH: libraries } : process.env;
  return spawnSync(file, ['--version'], { env, timeout: 20_000 }).status === 0;
}

/** Font configuration: the system's fonts, if any, and those of the package. */
const FONTS = `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <include ignore_missing="yes">/etc/fonts/fonts.conf</include>
  <dir prefix="relative">fonts</dir>
</fontconfig>
`;

function installFromDebian(log) {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return null;
  if (spawnSync('apt-get', ['--version']).status !== 0) return null;
  log('browser: installing Debian’s chromium');
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  spawnSync('apt-get', ['update', '-qq'], { env, stdio: 'ignore' });
  spawnSync('apt-get', ['install', '-y', '-qq', '--no-install-recommends', 'chromium'], { env, stdio: 'ignore' });
  return findOnPath();
}

function run(command, args, options) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { ...options, stdio: ['ignore', 'ignore', 'pipe'] });
    let stderr = '';
    child.stderr.on('data', (chunk) => {
      stderr = (stderr + chunk).slice(-2000);
    });
    child.on('error', reject);
    child.on('close', (code) =>
      code === 0 ? resolve() : reject(new Error(`${command} exited with code ${code}: ${firstError(stderr)}`)),
    );
  });
}

const firstError = (text) => /^.*Error.*$/m.exec(text)?.[0] ?? text.trim().split('\n').pop();

if (process.argv[1] && path.resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
  const dataDir = process.env.LECTERN_DATA_DIR ?? '.lectern';
  const browser = await ensureBrowser({ dataDir, fresh: process.argv.includes('--fresh') });
  process.exitCode = browser ? 0 : 1;
}
