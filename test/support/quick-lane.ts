/**
 * Chooses the test files of the quick lane (`npm run test:quick`): unit tests without a browser, a server or a
 * database.
 */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** Imports that mean a real browser, server, database, child process or worker thread. */
const REAL_PARTS =
  /from '[^']*(?:browser\.suite|site\/site|documents\/documents|support\/(?:accounts-process|browser-page|bundled|chat-host|cli|client-package|flow-gateway|model-host|process|program|program-build|raw-http|serve-program|server|services|shared-counters))\.ts'|'node:child_process'|\bcreate(?:ProcessPool|ThreadPool|Documents|Ocr)\(/;

/** A file that says this, with the reason, runs in the full lane only. */
const FULL_RUN_ONLY = /^\/\/ Full run only: \S/m;

/** Paths of the files, relative to the root of the project. */
export function quickTests(root: string): string[] {
  return readdirSync(path.join(root, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.test.ts'))
    .map((file) => path.join('src', file))
    .filter((file) => {
      const text = readFileSync(path.join(root, file), 'utf8');
      return !REAL_PARTS.test(text) && !FULL_RUN_ONLY.test(text);
    })
    .sort();
}
