/**
 * Gets the browser that renders pages. Part of the set-up of `npm start` and `npm test`, and a command of its own:
 * `node scripts/browser.mjs`. Plain Node without dependencies: it runs before anything is installed or built.
 *
 * What it unpacks is described by `<dataDir>/browser/browser.json`, with paths relative to that folder:
 *   { "version": "1.2.3", "executable": "1.2.3/chromium", "libraries": "1.2.3/al2023/lib" | null, "fonts": "1.2.3/fonts.conf" | null }
 * src/reader/engines/browser/find.ts reads the same file; its test holds the two together.
 */
import { spawn, spawnSync } from 'node:child_process';
import { accessSync, constants, existsSync, readdirSync, readFileSync } from 'node:fs';
import { chmod, mkdir, rename, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { QUIET } from './npm-quiet.mjs';

export const MANIFEST = 'browser.json';

/** Names under which Chromium and Chrome stand on PATH; find.ts has the same list. */
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
  'install Chromium or Chrome, or run `npx playwright-core install --only-shell chromium`, or set LECTERN_BROWSER to one';

/**
 * The path of a browser, or null when there is none to be had; says in one line which, or how to get one.
 * With `fresh` what the machine has is passed over, so that the pinned one is unpacked.
 */
export async function ensureBrowser({ dataDir, log = console.log, fresh = false }) {
  const folder = path.resolve(dataDir, 'browser');
  const configured = process.env.LECTERN_BROWSER;
  if (configured === 'none') {
    log('browser: none, as LECTERN_BROWSER says');
    return null;
  }
  const found = (!fresh && (configured || onPath() || playwrights())) || unpacked(folder);
  if (found && executable(found)) {
    log(`browser: ${found}`);
    return found;
  }
  if (found) log(`browser: LECTERN_BROWSER names ${found}, which cannot be run`);
  const got = (await fromRegistry(folder, log)) ?? (fresh ? null : fromDebian(log));
  log(
    got ? `browser: ${got}` : `browser: none; pages will be read without running their scripts. To have one, ${HINT}`,
  );
  return got;
}

function executable(file) {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function onPath() {
  const suffix = process.platform === 'win32' ? '.exe' : '';
  for (const name of NAMES)
    for (const folder of (process.env.PATH ?? '').split(path.delimiter)) {
      const file = path.join(folder, name + suffix);
      if (folder && executable(file)) return file;
    }
  return null;
}

/** Whatever Playwright's installer left: the folder names and depths differ by version, so two levels are looked at. */
function playwrights() {
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
    for (const part of list(inside)) {
      const folders = [path.join(inside, part)];
      for (const app of list(folders[0]).filter((entry) => entry.endsWith('.app')))
        folders.push(path.join(folders[0], app, 'Contents/MacOS'));
      for (const folder of folders)
        for (const file of list(folder))
          if (names.test(file) && executable(path.join(folder, file))) return path.join(folder, file);
    }
  }
  return null;
}

function list(folder) {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** What an earlier run unpacked, when it is the pinned version. */
function unpacked(folder) {
  try {
    const manifest = JSON.parse(readFileSync(path.join(folder, MANIFEST), 'utf8'));
    const file = path.join(folder, manifest.executable);
    return manifest.version === pinnedVersion() && executable(file) ? file : null;
  } catch {
    return null;
  }
}

const pinnedVersion = () =>
  JSON.parse(readFileSync(path.join(PINNED, 'package.json'), 'utf8')).dependencies['@sparticuz/chromium'];

async function fromRegistry(folder, log) {
  if (process.platform !== 'linux' || process.arch !== 'x64') return null;
  const version = pinnedVersion();
  const work = path.join(folder, `unpacking-${process.pid}`);
  try {
    log(`browser: none found; unpacking Chromium ${version} from the package registry`);
    const install = path.join(work, 'package');
    await mkdir(install, { recursive: true });
    for (const name of ['package.json', 'package-lock.json'])
      await writeFile(path.join(install, name), readFileSync(path.join(PINNED, name)));
    // The package names newer Nodes as its engines; what is used of it runs on 20 as well.
    const npm = ['ci', '--ignore-scripts', ...QUIET, '--engine-strict=false', '--loglevel=error'];
    await run('npm', npm, { cwd: install });
    const out = path.join(work, 'out');
    await mkdir(out);
    await unpack(install, out);
    let manifest = manifestOf(version);
    if (!starts(path.join(out, 'chromium'))) {
      await unpack(install, out, 'libraries');
      manifest = { ...manifest, libraries: `${version}/al2023/lib` };
      if (!starts(path.join(out, 'chromium'), path.join(out, 'al2023/lib'))) throw new Error('it does not start here');
    }
    // The package lets only the user who unpacks it run it; the server may be another.
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

/** What is written about an unpacked browser that needs no libraries of its own. */
export const manifestOf = (version) => ({
  version,
  executable: `${version}/chromium`,
  libraries: null,
  fonts: `${version}/fonts.conf`,
});

/** The package unpacks to the folder for temporary files, so a child with another one does it. */
async function unpack(install, out, what = 'browser') {
  const archive = path.join(install, 'node_modules/@sparticuz/chromium/bin/al2023.tar.br');
  const code =
    what === 'browser' ? 'chromium.default.executablePath()' : `chromium.inflate(${JSON.stringify(archive)})`;
  const script = `const chromium = await import('@sparticuz/chromium'); await ${code};`;
  const env = { ...process.env, TMPDIR: out };
  await run(process.execPath, ['--input-type=module', '-e', script], { cwd: install, env });
}

function starts(file, libraries) {
  const env = libraries ? { ...process.env, LD_LIBRARY_PATH: libraries } : process.env;
  return spawnSync(file, ['--version'], { env, timeout: 20_000 }).status === 0;
}

/** The machine's fonts when it has some, and the package's own. */
const FONTS = `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <include ignore_missing="yes">/etc/fonts/fonts.conf</include>
  <dir prefix="relative">fonts</dir>
</fontconfig>
`;

function fromDebian(log) {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return null;
  if (spawnSync('apt-get', ['--version']).status !== 0) return null;
  log('browser: installing Debian’s chromium');
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  spawnSync('apt-get', ['update', '-qq'], { env, stdio: 'ignore' });
  spawnSync('apt-get', ['install', '-y', '-qq', '--no-install-recommends', 'chromium'], { env, stdio: 'ignore' });
  return onPath();
}

function run(command, args, options) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { ...options, stdio: ['ignore', 'ignore', 'pipe'] });
    let said = '';
    child.stderr.on('data', (chunk) => {
      said = (said + chunk).slice(-2000);
    });
    child.on('error', reject);
    child.on('close', (code) =>
      code === 0 ? resolve() : reject(new Error(`${command} ended with ${code}: ${firstError(said)}`)),
    );
  });
}

const firstError = (text) => /^.*Error.*$/m.exec(text)?.[0] ?? text.trim().split('\n').pop();

if (process.argv[1] && path.resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
  const dataDir = process.env.LECTERN_DATA_DIR ?? '.lectern';
  const browser = await ensureBrowser({ dataDir, fresh: process.argv.includes('--fresh') });
  process.exitCode = browser ? 0 : 1;
}
