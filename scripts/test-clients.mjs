// Installs the published clients that tests run with the server. They have a separate folder, because they are not
// dependencies of Lectern and their versions conflict. If they cannot be installed, their tests are skipped with a
// message.
import { spawnSync } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import path from 'node:path';
import { QUIET } from './npm-quiet.mjs';

const dir = path.join(import.meta.dirname, '..', 'test', 'clients');
const installed = path.join(dir, 'node_modules', '.package-lock.json');
const isFresh = () =>
  existsSync(installed) && statSync(installed).mtimeMs >= statSync(path.join(dir, 'package-lock.json')).mtimeMs;

export function ensureTestClients(log) {
  if (isFresh()) return;
  log('installing published clients (only for tests)');
  // On Windows, npm is a batch file, which only a shell can run.
  const shell = process.platform === 'win32';
  const { status, stderr } = spawnSync('npm', ['ci', ...QUIET], { cwd: dir, encoding: 'utf8', shell });
  if (status !== 0) log(`cannot install published clients, skipping their tests: ${lastLine(stderr)}`);
}

const lastLine = (text) => (text ?? '').trim().split('\n').pop();
