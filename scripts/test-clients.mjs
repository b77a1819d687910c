// Published clients that tests point at a server of ours: in a folder of their own, since they are no dependencies of
// Lectern and disagree with each other about theirs. Where they cannot be had, their tests are skipped, and it is said.
import { spawnSync } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import path from 'node:path';
import { QUIET } from './npm-quiet.mjs';

const dir = path.join(import.meta.dirname, '..', 'test', 'clients');
const installed = path.join(dir, 'node_modules', '.package-lock.json');
const isFresh = () =>
  existsSync(installed) && statSync(installed).mtimeMs >= statSync(path.join(dir, 'package-lock.json')).mtimeMs;

export function ensureTestClients(say) {
  if (isFresh()) return;
  say('installing published clients (for tests alone)');
  const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm';
  const { status, stderr } = spawnSync(npm, ['ci', ...QUIET], { cwd: dir, encoding: 'utf8' });
  if (status !== 0) say(`published clients are not installed, their tests are skipped: ${lastLine(stderr)}`);
}

const lastLine = (text) => (text ?? '').trim().split('\n').pop();
