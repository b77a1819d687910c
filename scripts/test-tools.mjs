// Installs programs that Lectern can use or that some tests use for comparison: LibreOffice, Tesseract, Poppler,
// PostgreSQL, PgBouncer, Redis, an S3 store, a metasearch server, Python packages for gRPC, WebSocket and HTTP, a Perl client for OpenAPI, and
// the shells of the completion scripts. They are installed from Debian packages if possible. Otherwise, the tests that
// need them are skipped with a message.
import { spawnSync } from 'node:child_process';
import { accessSync, constants, copyFileSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

/** Programs or files, with the packages that contain them. A row needs one of its programs, but all of its files. */
const TOOLS = [
  {
    programs: ['soffice'],
    packages: ['libreoffice-writer-nogui', 'libreoffice-calc-nogui', 'libreoffice-impress-nogui'],
  },
  { programs: ['tesseract'], packages: ['tesseract-ocr'] },
  { programs: ['pdftotext'], packages: ['poppler-utils'] },
  { programs: ['ffmpeg'], packages: ['ffmpeg'] },
  { programs: ['unshare'], packages: ['util-linux'] },
  { programs: ['ip'], packages: ['iproute2'] },
  { programs: ['postgres'], packages: ['postgresql'] },
  { programs: ['redis-server', 'valkey-server'], packages: ['redis-server'] },
  { programs: ['pgbouncer'], packages: ['pgbouncer'] },
  {
    // OpenStack Swift with its S3 layer.
    programs: ['swift-proxy-server'],
    packages: ['swift-proxy', 'swift-account', 'swift-container', 'swift-object'],
  },
  {
    programs: ['grpc_python_plugin'],
    packages: ['protobuf-compiler', 'protobuf-compiler-grpc', 'python3-grpcio', 'python3-protobuf'],
  },
  {
    // Python modules from Debian packages, which contain no program.
    files: ['/usr/lib/python3/dist-packages/websockets', '/usr/lib/python3/dist-packages/aiohttp'],
    packages: ['python3-websockets', 'python3-aiohttp'],
  },
  { programs: ['searx-run'], packages: ['searx'] },
  { programs: ['mojo'], packages: ['libopenapi-client-perl'] },
  {
    // Fonts of scripts for the tests and the benchmark of text recognition.
    files: [
      '/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf',
      '/usr/share/fonts/truetype/wqy/wqy-zenhei.ttc',
      '/usr/share/fonts/truetype/vlgothic/VL-Gothic-Regular.ttf',
      '/usr/share/fonts/truetype/nanum/NanumGothic.ttf',
    ],
    packages: ['fonts-dejavu-core', 'fonts-wqy-zenhei', 'fonts-vlgothic', 'fonts-nanum'],
  },
  { programs: ['zsh'], packages: ['zsh'] },
  { programs: ['fish'], packages: ['fish'] },
];

/** Debian installs the server programs of PostgreSQL outside PATH, in one folder per version. */
const POSTGRES_HOME = '/usr/lib/postgresql';

/** Returns the path of the first of these programs that is installed, or `undefined`. */
export function findProgram(...names) {
  const folders = [...(process.env.PATH ?? '').split(path.delimiter).filter(Boolean), ...postgresFolders()];
  return names.flatMap((name) => folders.map((folder) => path.join(folder, name))).find(isExecutable);
}

function postgresFolders() {
  try {
    const versions = readdirSync(POSTGRES_HOME).sort((a, b) => Number(b) - Number(a));
    return versions.map((version) => path.join(POSTGRES_HOME, version, 'bin'));
  } catch {
    return [];
  }
}

function isExecutable(file) {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

const isInstalled = ({ programs, files }) => (programs ? findProgram(...programs) : files.every(existsSync));
const missing = () => TOOLS.filter((tool) => !isInstalled(tool));

export function ensureTestTools(log) {
  if (missing().length && isDebianRoot())
    install(
      missing().flatMap(({ packages }) => packages),
      log,
    );
  for (const { programs, packages } of missing()) {
    log(`${programs?.[0] ?? packages.join(', ')} is not installed: skipping tests that need it`);
  }
  if (!findProgram('promtool') && isDebianRoot()) unpackPromtool(log);
  if (!findProgram('promtool')) log('promtool is not installed: skipping the tests of the alerts');
}

/** Takes only promtool out of its package, because installing the package would start Prometheus. */
function unpackPromtool(log) {
  log('unpacking promtool (only for tests)');
  const folder = mkdtempSync(path.join(os.tmpdir(), 'lectern-promtool-'));
  try {
    spawnSync('apt-get', ['download', '-qq', 'prometheus'], { cwd: folder, stdio: 'ignore' });
    const file = readdirSync(folder).find((name) => name.endsWith('.deb'));
    if (!file) return log('the package prometheus could not be downloaded');
    spawnSync('dpkg-deb', ['-x', file, 'content'], { cwd: folder, stdio: 'ignore' });
    copyFileSync(path.join(folder, 'content/usr/bin/promtool'), '/usr/local/bin/promtool');
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const isDebianRoot = () =>
  process.platform === 'linux' && process.getuid?.() === 0 && spawnSync('apt-get', ['--version']).status === 0;

function install(packages, log) {
  log(`installing ${packages.join(', ')} (only for tests)`);
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  spawnSync('apt-get', ['update', '-qq'], { env, stdio: 'ignore' });
  const { status, stderr } = spawnSync('apt-get', ['install', '-y', '-qq', '--no-install-recommends', ...packages], {
    env,
    encoding: 'utf8',
  });
  if (status !== 0) log(`apt-get failed: ${stderr.trim().split('\n').pop()}`);
}
