// `npm run release:check`: everything that a release needs besides the tests. Builds into an empty dist/, unless
// `--built` is given. On a tag (GITHUB_REF_TYPE=tag), version, tag and changelog must agree. Publishes nothing.
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundledPackages } from '../bundle.mjs';
import { contents, contentsProblem } from '../models-package.mjs';
import { noticeLines, withNoticeLines } from '../notice.mjs';
import { MAX_MODELS_PACKED_BYTES, MAX_PACKED_BYTES } from './budgets.mjs';
import { createSbom } from './sbom.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const read = (name) => readFileSync(path.join(root, name), 'utf8');
const shell = process.platform === 'win32';
/** A dry run without an account says so; nothing else may be wrong. */
const EXPECTED_WARNING = /^npm warn publish This command requires you to be logged in /;
const REQUIRED_FILES = ['package.json', 'README.md', 'CHANGELOG.md', 'LICENSE', 'NOTICE', 'dist/main.js'];
const MODELS_FILES = ['package.json', 'README.md', 'LICENSE', 'NOTICE', ...Object.keys(contents().files)];
const FORBIDDEN_FILES = /\.map$|\.(?:test|suite)\.|^(?:src|test|bench|node_modules)\//;

const problems = [];
const manifest = JSON.parse(read('package.json'));
if (!process.argv.includes('--built')) {
  rmSync(path.join(root, 'dist'), { recursive: true, force: true });
  execFileSync('npm', ['run', '--silent', 'build'], { cwd: root, stdio: 'inherit', shell });
}
checkVersion();
// Packing takes much longer, and would have to be done again with the right version.
if (problems.length === 0) await checkContents();
for (const problem of problems) console.error(`release: ${problem}`);
if (problems.length === 0) console.log(`release: lectern ${manifest.version} can be published`);
process.exitCode = problems.length === 0 ? 0 : 1;

function checkVersion() {
  const changelog = read('CHANGELOG.md');
  const { version } = manifest;
  const isTag = process.env.GITHUB_REF_TYPE === 'tag';
  if (!/^\d+\.\d+\.\d+(?:-[\w.]+)?$/.test(version)) problems.push(`the version ${version} is not a semantic version`);
  const sections = [...changelog.matchAll(/^## (.+)$/gm)].map(([, title]) => title);
  if (isTag && process.env.GITHUB_REF_NAME !== `v${version}`)
    problems.push(`the tag ${process.env.GITHUB_REF_NAME} does not name the version ${version}`);
  if (isTag && !sections.some((title) => title.startsWith(`${version} (`)))
    problems.push(`CHANGELOG.md has no section "## ${version} (date)"`);
  if (!isTag && !sections.some((title) => title === 'Unreleased' || title.startsWith(`${version} (`)))
    problems.push(`CHANGELOG.md has neither "## Unreleased" nor "## ${version} (date)"`);
}

async function checkContents() {
  checkPackage('lectern', [], REQUIRED_FILES, MAX_PACKED_BYTES);
  checkModels();
  await checkNotice();
  await checkSbom();
}

/** The version of the data says what it contains, and `lectern` depends on exactly that. */
function checkModels() {
  const { version } = JSON.parse(read('packages/models/package.json'));
  const wanted = manifest.dependencies['lectern-models'];
  if (wanted !== version)
    problems.push(`lectern depends on lectern-models ${wanted}, but packages/models has the version ${version}`);
  const problem = contentsProblem();
  if (problem !== undefined) problems.push(problem);
  checkPackage('lectern-models', ['--workspace', 'lectern-models'], MODELS_FILES, MAX_MODELS_PACKED_BYTES);
}

function checkPackage(name, which, required, maxBytes) {
  const args = ['publish', '--dry-run', '--json', '--ignore-scripts', ...which];
  const { status, stdout, stderr } = spawnSync('npm', args, {
    cwd: root,
    encoding: 'utf8',
    shell,
    maxBuffer: 64 * 1024 * 1024,
  });
  if (status !== 0) return problems.push(`${name}: npm publish --dry-run failed: ${stderr.trim()}`);
  const warnings = stderr
    .split('\n')
    .filter((line) => /^npm (?:warn|error)/.test(line) && !EXPECTED_WARNING.test(line));
  problems.push(...warnings);
  const result = JSON.parse(stdout);
  const { size, files } = result[name] ?? result;
  const names = files.map((file) => file.path);
  const missing = required.filter((file) => !names.includes(file));
  const forbidden = names.filter((file) => FORBIDDEN_FILES.test(file));
  problems.push(...missing.map((file) => `${name}: ${file} is not packed`));
  problems.push(...forbidden.map((file) => `${name}: ${file} must not be packed`));
  if (size > maxBytes) problems.push(`the archive of ${name} has ${size} bytes, more than ${maxBytes}`);
  return undefined;
}

async function checkNotice() {
  const lines = noticeLines(JSON.parse(read('package-lock.json')), await bundledPackages());
  if (withNoticeLines(read('NOTICE'), lines) !== read('NOTICE')) problems.push('NOTICE is outdated: npm run docs');
}

async function checkSbom() {
  const { components } = await createSbom();
  const unlicensed = components.filter(({ licenses }) => !licenses?.length);
  problems.push(...unlicensed.map(({ name }) => `the package ${name} names no license`));
}
