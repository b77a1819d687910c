// Programs that some tests hold our output against, or that Lectern uses when a machine has them: LibreOffice, Tesseract,
// Poppler. Where Debian's packages can be installed they are; elsewhere the tests that need one are skipped, and it is said.
import { spawnSync } from 'node:child_process';

const TOOLS = [
  { program: 'soffice', packages: ['libreoffice-writer-nogui', 'libreoffice-calc-nogui', 'libreoffice-impress-nogui'] },
  { program: 'tesseract', packages: ['tesseract-ocr'] },
  { program: 'pdftotext', packages: ['poppler-utils'] },
];

const has = (program) => spawnSync('sh', ['-c', `command -v ${program}`], { stdio: 'ignore' }).status === 0;
const missing = () => TOOLS.filter(({ program }) => !has(program));

export function ensureTestTools(say) {
  if (missing().length && isDebianRoot())
    install(
      missing().flatMap(({ packages }) => packages),
      say,
    );
  for (const { program } of missing()) say(`${program} is not installed: tests that need it are skipped`);
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
