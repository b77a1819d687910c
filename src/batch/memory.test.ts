/** What a worker holds does not grow with its job. */
// Full run only: works through 50,000 lines.
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { expect, it } from 'vitest';
import { line, openTestBatch, serve } from './batch.suite.ts';
import { kill, peakBytes, SMALL_HEAP, startWorkerProcess } from './worker-process.suite.ts';

const MB = 1024 * 1024;

it('reads and works on 50,000 lines in the memory of 500', { timeout: 400_000 }, async () => {
  const dataDir = mkdtempSync(path.join(os.tmpdir(), 'batch-'));
  const text = 'x'.repeat(1_000);
  const files = await serve((request, response) => {
    const count = Number(request.url!.slice(1));
    function* lines() {
      for (let at = 0; at < count; at++) yield `${JSON.stringify(line(`line ${at}`, text))}\n`;
    }
    Readable.from(lines()).pipe(response);
  });
  const batchModule = await openTestBatch({ dataDir, jobs: 0 });
  const worker = await startWorkerProcess({ dataDir, batchMs: 0 }, SMALL_HEAP);
  try {
    const peakOf = async (count: number) => {
      const done = await batchModule.ended((await batchModule.submit(`${files.url}/${count}`)).id);
      expect(done).toMatchObject({ state: 'completed', total: count, completed: count });
      return peakBytes(worker);
    };
    await peakOf(500);
    const small = await peakOf(500);
    const large = await peakOf(50_000);
    // The input alone has 54 MB.
    expect((large - small) / MB).toBeLessThan(25);
  } finally {
    await kill(worker);
    await batchModule.close();
    await files.close();
    rmSync(dataDir, { recursive: true, force: true });
  }
});
