// `node scripts/release/publish.mjs [arguments of npm publish]`: publishes `lectern-models` unless its version is already
// published, then `lectern`, which depends on it.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const args = process.argv.slice(2);
const { version } = JSON.parse(readFileSync(path.join(root, 'packages/models/package.json'), 'utf8'));
const npm = (words, options) =>
  spawnSync('npm', words, { cwd: root, encoding: 'utf8', shell: process.platform === 'win32', ...options });

/** A registry that does not know the package or its version says so; any other failure ends the release. */
function isPublished(name) {
  const { status, stdout, stderr } = npm(['view', name, 'version', '--json']);
  if (status === 0) return stdout.trim() !== '';
  if (/\bE404\b/.test(stderr + stdout)) return false;
  console.error(`release: npm view ${name} failed: ${stderr.trim()}`);
  process.exit(1);
}

function publish(which) {
  const { status } = npm(['publish', ...which, ...args], { stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}

if (isPublished(`lectern-models@${version}`)) console.log(`release: lectern-models ${version} is already published`);
else publish(['--workspace', 'lectern-models']);
publish([]);
