// Sets up everything that the server and its tests need: packages, a build, a browser, the data folder. It uses no
// packages, because it runs before any are installed. Each step logs one line. Steps that were already completed are
// skipped.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { ensureBrowser } from './browser.mjs';
import { QUIET } from './npm-quiet.mjs';

export const root = fileURLToPath(new URL('..', import.meta.url));
const MIN_NODE = [20, 19];

const log = (line) => console.log(`lectern: ${line}`);

export class SetupError extends Error {}

/** Runs the set-up; `browser: false` skips the browser. Throws a SetupError with a one-line message. */
export async function setUp({ dataDir, browser = true }) {
  checkNode();
  installPackages();
  build();
  createDataFolder(dataDir);
  log(`data folder ${path.relative(process.cwd(), dataDir) || '.'}`);
  if (browser) await ensureBrowser({ dataDir, log: log });
}

/**
 * Creates the data folder with its missing parents, one by one: a recursive `mkdirSync` never returns in file systems
 * that call a folder missing although it exists, such as /proc.
 */
function createDataFolder(dataDir) {
  const missing = [];
  for (let at = path.resolve(dataDir); !existsSync(at); at = path.dirname(at)) missing.unshift(at);
  try {
    for (const folder of missing) mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    throw new SetupError(`the data folder ${dataDir} cannot be created (${error.code}); LECTERN_DATA_DIR names it`);
  }
}

function checkNode() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  const [minMajor, minMinor] = MIN_NODE;
  if (major < minMajor || (major === minMajor && minor < minMinor)) {
    throw new SetupError(`Node ${MIN_NODE.join('.')} or newer is required; this is ${process.versions.node}`);
  }
}

function installPackages() {
  const lock = readFileSync(path.join(root, 'package-lock.json'));
  const stamp = path.join(root, 'node_modules', '.lectern-packages');
  const wanted = digest([lock]);
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return log('packages are installed');
  log('installing packages (about half a minute the first time)');
  npm(['ci', ...QUIET, '--loglevel=error']);
  writeFileSync(stamp, wanted);
}

function build() {
  const dist = path.join(root, 'dist');
  const stamp = path.join(dist, '.lectern-build');
  const settings = [
    'package.json',
    'package-lock.json',
    'tsconfig.json',
    'tsconfig.build.json',
    'packages/models/contents.json',
  ];
  // The documentation site includes files from bench/, deploy/ and examples/.
  const folders = ['src', 'playground', 'docs', 'scripts', 'bench', 'deploy', 'examples'];
  const files = [...settings, 'README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', ...folders.flatMap(listFiles)];
  const wanted = digest(files.flatMap((file) => [file, readFileSync(path.join(root, file))]));
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return log('the build is up to date');
  log('building');
  rmSync(dist, { recursive: true, force: true });
  npm(['run', '--silent', 'build']);
  writeFileSync(stamp, wanted);
}

function digest(parts) {
  const hash = createHash('sha256').update(process.platform + process.arch);
  for (const part of parts) hash.update(part);
  return hash.digest('hex');
}

const listFiles = (dir) =>
  readdirSync(path.join(root, dir), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(root, path.join(entry.parentPath ?? entry.path, entry.name)))
    .sort();

/** Runs npm with the same Node that runs this script. */
export function npm(args, options = {}) {
  const script = process.env.npm_execpath;
  if (script?.endsWith('.js')) run(process.execPath, [script, ...args], 'npm failed', options);
  // On Windows, npm is a batch file, which only a shell can run.
  else run('npm', args, 'npm failed', { shell: process.platform === 'win32', ...options });
}

export function run(program, args, failure, options = {}) {
  const { status, error } = spawnSync(program, args, { cwd: root, stdio: 'inherit', ...options });
  if (error) throw new SetupError(`${failure}: ${error.message}`);
  if (status !== 0) throw new SetupError(failure);
}

export const dataDirOf = (environment) => path.resolve(root, environment.LECTERN_DATA_DIR || '.lectern');
