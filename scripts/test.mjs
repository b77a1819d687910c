// `npm test`: runs the set-up, then the tests. Arguments after `--` go to vitest. The last line is easy to parse:
// `N passed, N failed`.
//
// The whole suite uses all processors, so a test with a time limit can fail because of the others. The files that did
// not pass are therefore run once more, one after the other, and the tests that passed only then are named.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { dataDirOf, root, SetupError, setUp } from './setup.mjs';
import { ensureTestClients } from './test-clients.mjs';
import { mergeRuns } from './test-runs.mjs';
import { ensureTestTools } from './test-tools.mjs';

/** If more files than this did not pass, the cause is not the load. */
const MAX_FILES_AGAIN = 25;

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
const args = process.argv.slice(2);
// Without files, the whole suite runs (vitest.config.ts, `isJoined`).
const isWhole = args.length === 0;
const first = run('first', args);
let { results, passed } = first;
if (
  isWhole &&
  !passed &&
  first.errors.length === 0 &&
  first.files.length > 0 &&
  first.files.length <= MAX_FILES_AGAIN
) {
  console.log(`lectern: ${first.files.length} files did not pass; they are run again, one after the other`);
  const second = run('second', [...first.files, '--maxWorkers=1']);
  const merged = mergeRuns(results, second.results);
  for (const line of merged.lines) console.log(line);
  ({ results } = merged);
  ({ passed } = second);
}
rmSync(dir, { recursive: true, force: true });
const all = [...results.values()].flat();
const count = (status) => all.filter((test) => test.status === status).length;
passed &&= count('passed') > 0;
// A failure outside the tests counts too.
const failed = passed ? 0 : Math.max(count('failed'), 1);
console.log(`${count('passed')} passed, ${failed} failed`);
process.exitCode = passed ? 0 : 1;

/** Runs vitest; returns whether everything passed, the tests by file, the files that did not pass, and other errors. */
function run(name, vitestArgs) {
  const json = path.join(dir, `${name}.json`);
  const report = path.join(dir, `${name}-report.json`);
  const { status } = spawnSync(
    process.execPath,
    [
      path.join(root, 'node_modules', 'vitest', 'vitest.mjs'),
      'run',
      '--reporter=default',
      '--reporter=json',
      '--reporter=./test/support/run-report.ts',
      `--outputFile.json=${json}`,
      ...vitestArgs,
    ],
    {
      cwd: root,
      stdio: 'inherit',
      env: { ...process.env, TEST_RUN_REPORT: report, ...(isWhole && { TEST_LANES: 'joined' }) },
    },
  );
  const { files, errors } = read(report) ?? { files: [], errors: ['there is no report'] };
  const results = new Map(
    (read(json)?.testResults ?? []).map((file) => [path.relative(root, file.name), file.assertionResults]),
  );
  return { passed: status === 0, results, files, errors };
}

function read(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return undefined;
  }
}
