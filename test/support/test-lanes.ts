/**
 * Determines which test files run in the quick lane (`npm run test:quick`), and which of the others need a separate
 * process.
 */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** Imports that indicate a real browser, server, database, child process or worker thread. */
const REAL_PARTS =
  /from '[^']*(?:browser\.suite|site\/site|documents\/documents|support\/(?:accounts-process|browser-page|bundled|chat-host|cli|client-package|flow-gateway|model-host|process|program|program-build|raw-http|serve-program|server|services|shared-counters))\.ts'|'node:child_process'|\bcreate(?:ProcessPool|ThreadPool|Documents|Ocr)\(/;

/** A file with this comment, which includes the reason, runs in the full lane only. */
const FULL_RUN_ONLY = /^\/\/ Full run only: \S/m;

/**
 * Code that changes or measures the process, which would disturb other files in the same process or be disturbed by
 * them. Any other file that needs a separate process has a comment with the reason.
 */
const OWN_PROCESS =
  /\bvi\.(?:mock|doMock|resetModules|stub)|process\.(?:chdir|memoryUsage|cpuUsage)|support\/memory\.ts|^\/\/ Own process: \S/m;

/** Paths of the files in the quick lane, relative to the root of the project. */
export const quickTests = (root: string): string[] =>
  testFiles(root, 'src').filter((file) => {
    const text = readFileSync(path.join(root, file), 'utf8');
    return !REAL_PARTS.test(text) && !FULL_RUN_ONLY.test(text);
  });

/** Paths of the other files that need a separate process, relative to the root of the project. */
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
