// `npm test`: runs the set-up, then the tests. Arguments after `--` go to vitest. The last line is easy to parse:
// `N passed, N failed`.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { dataDirOf, root, SetupError, setUp } from './setup.mjs';
import { ensureTestClients } from './test-clients.mjs';
import { ensureTestTools } from './test-tools.mjs';

try {
  await setUp({ dataDir: dataDirOf(process.env) });
  const log = (line) => console.log(`lectern: ${line}`);
  ensureTestTools(log);
  ensureTestClients(log);
} catch (error) {
  if (!(error instanceof SetupError)) throw error;
  console.error(`lectern: ${error.message}`);
  process.exit(1);
}

const dir = mkdtempSync(path.join(os.tmpdir(), 'lectern-test-'));
const results = path.join(dir, 'results.json');
const vitest = path.join(root, 'node_modules', 'vitest', 'vitest.mjs');
const { status } = spawnSync(
  process.execPath,
  [
    vitest,
    'run',
    '--reporter=default',
    '--reporter=json',
    '--reporter=./test/support/repeated-reporter.ts',
    `--outputFile.json=${results}`,
    ...process.argv.slice(2),
  ],
  // Without files, the whole suite runs (vitest.config.ts, `isJoined`).
  {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, ...(process.argv.length > 2 ? {} : { LECTERN_TEST_LANES: 'joined' }) },
  },
);
const counted = read(results);
rmSync(dir, { recursive: true, force: true });
console.log(`${counted.passed} passed, ${counted.failed} failed`);
process.exitCode = status === 0 && counted.passed > 0 ? 0 : 1;

function read(file) {
  try {
    const { numPassedTests, numFailedTests } = JSON.parse(readFileSync(file, 'utf8'));
    return { passed: numPassedTests, failed: numFailedTests };
  } catch {
    return { passed: 0, failed: 1 };
  }
}
