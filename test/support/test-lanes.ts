/** Which test files share worker processes: the quick lane (`npm run test:quick`), and tests of servers in the same process. */
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

/** Imports of a server that runs in the process of the test. */
const SERVER = /from '[^']*(?:support\/(?:server|model-host|flow-gateway)|\.\/(?:reader-host|host-server|flow-server))\.ts'/;
/** What concerns the process, so that other files would notice it. */
const OWN_PROCESS =
  /\bvi\.(?:mock|setConfig|stub|useFake|spyOn)|process\.env|support\/(?:process|cli|memory|program|services|serve-program)\.ts|child_process|memoryUsage|chdir/;

/** Paths of the test files whose servers run in the process of the test and share modules, relative to the root. */
export function serverTests(root: string): string[] {
  return ['test/api', 'test/seeds']
    .flatMap((folder) => readdirSync(path.join(root, folder)).map((file) => path.join(folder, file)))
    .filter((file) => file.endsWith('.test.ts'))
    .filter((file) => {
      const text = readFileSync(path.join(root, file), 'utf8');
      return SERVER.test(text) && !OWN_PROCESS.test(text);
    })
    .sort();
}
