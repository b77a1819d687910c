// Programs that some tests hold our output against, or that Lectern uses when a machine has them: LibreOffice, Tesseract,
// Poppler, the servers it can keep its data in (PostgreSQL, Redis), a metasearch server, and gRPC in another language.
// Where Debian's packages can be installed they are; elsewhere the tests that need one are skipped, and it is said.
import { spawnSync } from 'node:child_process';
import { accessSync, constants, readdirSync } from 'node:fs';
import path from 'node:path';

/** The first program found of a row will do. */
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
  {
    programs: ['grpc_python_plugin'],
    packages: ['protobuf-compiler', 'protobuf-compiler-grpc', 'python3-grpcio', 'python3-protobuf'],
  },
  { programs: ['searx-run'], packages: ['searx'] },
];

/** Debian keeps the programs of PostgreSQL's server out of the path, a folder a version. */
const POSTGRES_HOME = '/usr/lib/postgresql';

/** The file of the first of these programs that the machine has, or undefined. */
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

const missing = () => TOOLS.filter(({ programs }) => !findProgram(...programs));

export function ensureTestTools(say) {
  if (missing().length && isDebianRoot())
    install(
      missing().flatMap(({ packages }) => packages),
      say,
    );
  for (const { programs } of missing()) say(`${programs[0]} is not installed: tests that need it are skipped`);
}

const isDebianRoot = () =>
  process.platform === 'linux' && process.getuid?.() === 0 && spawnSync('apt-get', ['--version']).status === 0;

function install(packages, say) {
  say(`installing ${packages.join(', ')} (for tests alone)`);
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  spawnSync('apt-get', ['update', '-qq'], { env, stdio: 'ignore' });
  const { status, stderr } = spawnSync('apt-get', ['install', '-y', '-qq', '--no-install-recommends', ...packages], {
    env,
    encoding: 'utf8',
  });
  if (status !== 0) say(`apt-get failed: ${stderr.trim().split('\n').pop()}`);
}
