/** Which test files run in the quick lane (`npm run test:quick`), and which of the others need a process of their own. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** Imports that mean a real browser, server, database, child process or worker thread. */
const REAL_PARTS =
  /from '[^']*(?:browser\.suite|site\/site|documents\/documents|support\/(?:accounts-process|browser-page|bundled|chat-host|cli|client-package|flow-gateway|model-host|process|program|program-build|raw-http|serve-program|server|services|shared-counters))\.ts'|'node:child_process'|\bcreate(?:ProcessPool|ThreadPool|Documents|Ocr)\(/;

/** A file that says this, with the reason, runs in the full lane only. */
const FULL_RUN_ONLY = /^\/\/ Full run only: \S/m;

/**
 * What changes or measures the process, which other files in the same process would notice or disturb. Any other file that
 * needs a process of its own says so, with the reason.
 */
const OWN_PROCESS =
  /\bvi\.(?:mock|doMock|resetModules|stub)|process\.(?:chdir|memoryUsage|cpuUsage)|support\/memory\.ts|^\/\/ Own process: \S/m;

/** Paths of the files of the quick lane, relative to the root of the project. */
export const quickTests = (root: string): string[] =>
  testFiles(root, 'src').filter((file) => {
    const text = readFileSync(path.join(root, file), 'utf8');
    return !REAL_PARTS.test(text) && !FULL_RUN_ONLY.test(text);
  });

/** Paths of the other files that need a process of their own, relative to the root of the project. */
export function ownProcessTests(root: string): string[] {
  const quick = new Set(quickTests(root));
  return [...testFiles(root, 'src'), ...testFiles(root, 'test')].filter(
    (file) => !quick.has(file) && OWN_PROCESS.test(readFileSync(path.join(root, file), 'utf8')),
  );
}

const testFiles = (root: string, folder: string): string[] =>
  readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.test.ts') && !file.includes('node_modules'))
    .map((file) => path.join(folder, file))
    .sort();
