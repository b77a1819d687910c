/**
 * Installs the pinned Chromium into a folder, from the package registry or, where its package has no build for the
 * machine, from Playwright's servers. The set-up of a checkout uses this file too.
 *
 * `<folder>/browser.json` describes an unpacked browser, with paths relative to that folder:
 *   { "version": "1.2.3", "executable": "1.2.3/chromium", "libraries": "1.2.3/al2023/lib" | null,
 *     "fonts": "1.2.3/fonts.conf" | null }
 */
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, lstatSync, readFileSync } from 'node:fs';
import { chmod, copyFile, mkdir, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { operatorEnvironment } from '#concurrency/environment.ts';

export { findBrowser, userBrowserFolder } from './find.ts';

/** The package that contains the browser, with its version and checksum. */
const PINNED = fileURLToPath(new URL('../../../../assets/browser/', import.meta.url));
const PACKAGE = '@sparticuz/chromium';
const MANIFEST = 'browser.json';

/** Makes npm fetch only the packages of the lock file, and tell nobody. */
export const NPM_FLAGS = ['--no-audit', '--no-fund', '--no-update-notifier'];

/** How long the registry may send nothing. */
const STALL_MS = 20_000;
const LOOK_MS = 500;

export interface InstallOptions {
  /** Folder of unpacked browsers. */
  readonly folder: string;
  /** Called with each step. */
  readonly log: (line: string) => void;
  /** Called with the downloaded bytes. */
  readonly onBytes?: (bytes: number) => void;
  readonly signal?: AbortSignal | undefined;
  /** Default: 20 seconds. */
  readonly stallMs?: number;
}

export const pinnedBrowserVersion = (): string =>
  JSON.parse(readFileSync(path.join(PINNED, 'package.json'), 'utf8')).dependencies[PACKAGE];

/** The version that was unpacked into the folder, if any. */
export function unpackedBrowserVersion(folder: string): string | undefined {
  try {
    return JSON.parse(readFileSync(path.join(folder, MANIFEST), 'utf8')).version;
  } catch {
    return undefined;
  }
}

const seconds = (ms: number): string => `${Math.round(ms / 1000)} s`;

const hasPackagedBuild = (): boolean => process.platform === 'linux' && process.arch === 'x64';

/** Installs the browser. Throws an Error whose message is the reason. */
export async function installBrowser(options: InstallOptions): Promise<void> {
  if (hasPackagedBuild()) await unpackFromRegistry(options);
  else await installWithPlaywright(options);
}

/** A file that records that the user was offered a browser, or got none from the set-up of a checkout. */
const OFFERED = 'offered';

export const wasOffered = (folder: string): boolean => existsSync(path.join(folder, OFFERED));

export async function recordOffer(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  await writeFile(path.join(folder, OFFERED), '');
}

/**
 * Removes the unpacked browsers. Returns false if there are none. If the folder is a symbolic link, only the link is
 * removed, because other data folders may use what it points to.
 */
export async function removeBrowser(folder: string): Promise<boolean> {
  if (!existsSync(path.join(folder, MANIFEST))) return false;
  if (lstatSync(folder).isSymbolicLink()) {
    await rm(folder);
    return true;
  }
  // The description goes first, so that no browser is started from a half-removed folder.
  await rm(path.join(folder, MANIFEST));
  await rm(folder, { recursive: true, force: true });
  return true;
}

async function unpackFromRegistry({ folder, log, onBytes, signal, stallMs = STALL_MS }: InstallOptions): Promise<void> {
  const version = pinnedBrowserVersion();
  const work = path.join(folder, `unpacking-${process.pid}`);
  try {
    log(
      `downloading Chromium ${version} from the package registry; gives up if nothing arrives for ${seconds(stallMs)}`,
    );
    const install = path.join(work, 'package');
    await mkdir(install, { recursive: true });
    for (const name of ['package.json', 'package-lock.json'])
      await copyFile(path.join(PINNED, name), path.join(install, name));
    await fetchPackage(install, { onBytes, signal, stallMs });
    log('unpacking it');
    const out = path.join(work, 'out');
    await mkdir(out);
    await unpack(install, out, signal);
    let libraries: string | null = null;
    if (!canStart(path.join(out, 'chromium'))) {
      await unpack(install, out, signal, 'libraries');
      libraries = `${version}/al2023/lib`;
      if (!canStart(path.join(out, 'chromium'), path.join(out, 'al2023/lib')))
        throw new Error('it does not start on this machine');
    }
    // The package makes the file executable only for the current user, but the server may run as a different user.
    await chmod(path.join(out, 'chromium'), 0o755);
    await writeFile(path.join(out, 'fonts.conf'), FONTS);
    await rm(path.join(folder, version), { recursive: true, force: true });
    await rename(out, path.join(folder, version));
    const manifest = { version, executable: `${version}/chromium`, libraries, fonts: `${version}/fonts.conf` };
    await writeFile(path.join(work, MANIFEST), `${JSON.stringify(manifest, null, 2)}\n`);
    await rename(path.join(work, MANIFEST), path.join(folder, MANIFEST));
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

type FetchOptions = Required<Pick<InstallOptions, 'stallMs'>> & Pick<InstallOptions, 'onBytes' | 'signal'>;

/** Runs `npm ci`. npm itself would wait for minutes for a registry that does not answer, so its download is watched. */
async function fetchPackage(install: string, { onBytes, signal, stallMs }: FetchOptions): Promise<void> {
  const stalled = new AbortController();
  let bytes = 0;
  let grownAt = performance.now();
  const watch = setInterval(async () => {
    const now = await sizeOf(install);
    if (now > bytes) {
      grownAt = performance.now();
      bytes = now;
      onBytes?.(bytes);
    } else if (performance.now() - grownAt > stallMs) stalled.abort();
  }, LOOK_MS);
  try {
    // The package requires a newer Node than this program, but the parts used here also run on Node 20.
    const flags = ['--ignore-scripts', '--engine-strict=false', '--prefer-offline', '--loglevel=error', ...NPM_FLAGS];
    const retries = ['--fetch-retries=1', '--fetch-retry-mintimeout=1000', '--fetch-retry-maxtimeout=1000'];
    const ends = signal ? AbortSignal.any([signal, stalled.signal]) : stalled.signal;
    await run('npm', ['ci', ...flags, ...retries], { cwd: install, signal: ends });
  } catch (error) {
    if (stalled.signal.aborted)
      throw new Error(`the package registry sent nothing for ${seconds(stallMs)}`, { cause: error });
    throw error;
  } finally {
    clearInterval(watch);
  }
}

async function sizeOf(folder: string): Promise<number> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  const files = entries.filter((entry) => entry.isFile());
  const sizes = await Promise.all(
    files.map(({ parentPath, name }) => stat(path.join(parentPath, name)).catch(() => undefined)),
  );
  return sizes.reduce((sum, found) => sum + (found?.size ?? 0), 0);
}

/** Unpacks the browser in a child process with its own TMPDIR, because the package unpacks to the temporary folder. */
async function unpack(
  install: string,
  out: string,
  signal: AbortSignal | undefined,
  what: 'browser' | 'libraries' = 'browser',
): Promise<void> {
  const archive = path.join(install, 'node_modules', PACKAGE, 'bin/al2023.tar.br');
  const code =
    what === 'browser' ? 'chromium.default.executablePath()' : `chromium.inflate(${JSON.stringify(archive)})`;
  const script = `const chromium = await import('${PACKAGE}'); await ${code};`;
  const environment = { TMPDIR: out };
  await run(process.execPath, ['--input-type=module', '-e', script], { cwd: install, signal, environment });
}

function canStart(file: string, libraries?: string): boolean {
  const env = operatorEnvironment(libraries === undefined ? {} : { LD_LIBRARY_PATH: libraries });
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

/** Playwright installs into a folder of the user, where `findBrowser` also looks. */
async function installWithPlaywright({ log, signal }: InstallOptions): Promise<void> {
  log('downloading Chromium from Playwright');
  const program = createRequire(import.meta.url).resolve('playwright-core/package.json');
  const args = [path.join(path.dirname(program), 'cli.js'), 'install', '--only-shell', 'chromium'];
  await run(process.execPath, args, { signal });
}

interface RunOptions {
  readonly cwd?: string;
  readonly signal?: AbortSignal | undefined;
  readonly environment?: Readonly<Record<string, string>>;
}

function run(command: string, args: readonly string[], { cwd, signal, environment }: RunOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      cwd,
      signal,
      env: operatorEnvironment(environment),
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let stderr = '';
    child.stderr.on('data', (chunk) => {
      stderr = (stderr + chunk).slice(-2000);
    });
    child.on('error', (error: NodeJS.ErrnoException) =>
      reject(error.code === 'ENOENT' ? new Error(`${command} was not found`, { cause: error }) : error),
    );
    child.on('close', (code) =>
      code === 0
        ? resolve()
        : reject(new Error(`${path.basename(command)} exited with code ${code}: ${firstError(stderr)}`)),
    );
  });
}

/** npm repeats its reason in several lines, of which the last names a log file. */
const firstError = (text: string): string =>
  /^.*(?:reason:|Error).*$/m.exec(text)?.[0] ?? text.trim().split('\n').slice(0, 2).join('; ');
