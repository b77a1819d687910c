import { defineConfig } from 'vitest/config';

// The condition "source" makes `#net/guard.ts` mean src/ here and dist/ in the built package.
export default defineConfig({
  resolve: { conditions: ['source'] },
  ssr: { resolve: { conditions: ['source'], externalConditions: ['node'] } },
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    globalSetup: ['test/support/services-setup.ts'],
    pool: 'forks',
    // It ships sources under the same condition, which Node would not run.
    server: { deps: { inline: ['@modelcontextprotocol/client', 'eventsource'] } },
    maxWorkers: 2,
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
});
