import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { postgresUrl } from '../../test/support/services.ts';
import { killWorkers } from './kill.suite.ts';

const KILLS = 4;
const url = await postgresUrl();

describe.each(['sqlite', 'postgres'] as const)('%s', (dialect) => {
  it.skipIf(dialect === 'postgres' && !url)(
    'loses no line and repeats none when workers are killed',
    { timeout: 400_000 },
    async () => {
      const dataDir = mkdtempSync(path.join(os.tmpdir(), 'batch-'));
      try {
        const databaseUrl = dialect === 'postgres' ? url : undefined;
        const report = await killWorkers({ dataDir, databaseUrl, batchMs: 15 }, KILLS);
        expect(report).toMatchObject({ kills: KILLS, lost: 0, repeated: 0, wrong: 0 });
        expect(report.duringWork).toBeGreaterThan(KILLS / 2);
      } finally {
        rmSync(dataDir, { recursive: true, force: true });
      }
    },
  );
});
