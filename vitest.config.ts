import os from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { configDefaults, defineConfig, type Plugin } from 'vitest/config';
import { buildProgram } from './test/support/program-build.ts';
import { ownProcessTests, quickTests } from './test/support/test-lanes.ts';
import { LongestFirst } from './test/support/test-order.ts';

const SOURCES = path.resolve(import.meta.dirname, 'src');
let program: Promise<string> | undefined;

/**
 * What a module starts beside itself (threads, processes) is started from the program that was built of these sources:
 * a thread that compiles its sources takes a second longer, and there are thousands of them.
 */
const startsBuilt: Plugin = {
  name: 'starts what is built',
  enforce: 'pre',
  async transform(code, id) {
    if (!id.startsWith(SOURCES) || !code.includes('import.meta.url.endsWith(')) return undefined;
    program ??= buildProgram();
    const place = path.relative(SOURCES, id).replace(/\.ts$/, '.js');
    const built = pathToFileURL(path.join(path.dirname(await program), place)).href;
    return { code: code.replaceAll('import.meta.url', JSON.stringify(built)), map: null };
  },
};

const quick = quickTests(import.meta.dirname);
const own = ownProcessTests(import.meta.dirname);
/**
 * `npm test` runs the quick lane in the workers of the shared one, because every project transforms and loads the sources
 * anew.
 */
const isJoined = process.env.TEST_LANES === 'joined' && !process.argv.includes('quick');
/** Real parts depend on the machine. A run names every test that passed only when it was run again. */
const REAL = { retry: 1, globalSetup: ['test/support/global-setup.ts'] };

// The condition "source" makes `#net/guard/guard.ts` mean src/ here and dist/ in the built package.
export default defineConfig({
  plugins: [startsBuilt],
  resolve: { conditions: ['source'] },
  ssr: { resolve: { conditions: ['source'], externalConditions: ['node'] } },
  test: {
    projects: [
      // Files of a project without isolation share their workers and the modules in them: loading the program anew for
      // each file takes longer than most of the tests.
      { extends: true, test: { ...REAL, name: 'own', include: own } },
      ...(isJoined ? [] : [{ extends: true as const, test: { name: 'quick', include: quick, isolate: false } }]),
      {
        extends: true,
        test: {
          ...REAL,
          name: 'shared',
          include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
          exclude: [...configDefaults.exclude, ...own, ...(isJoined ? [] : quick)],
          isolate: false,
          setupFiles: ['test/support/restore-environment.ts'],
        },
      },
    ],
    pool: 'forks',
    sequence: { sequencer: LongestFirst },
    // It ships sources under the same condition, which Node would not run.
    server: { deps: { inline: ['@modelcontextprotocol/client', 'eventsource'] } },
    // With more workers than processors, each test takes longer by more than the number of tests that run beside it.
    maxWorkers: os.availableParallelism(),
    // A worker runs hundreds of files, and keeps what their modules keep.
    execArgv: ['--max-old-space-size=8192'],
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
});
