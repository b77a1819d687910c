/** Tests that the memory of a worker does not grow with the size of its job. */
// Full run only: processes 50 MB of input.
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { expect, it } from 'vitest';
import { line, openTestBatch, serve } from './batch.suite.ts';
import { kill, peakBytes, SMALL_HEAP, startWorkerProcess } from './worker-process.suite.ts';

const MB = 1024 * 1024;

it('processes 16,000 lines in the memory of 500', { timeout: 400_000 }, async () => {
  const dataDir = mkdtempSync(path.join(os.tmpdir(), 'batch-'));
  const text = 'x'.repeat(3_000);
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
    const large = await peakOf(16_000);
    // The input alone is 48 MB.
    expect((large - small) / MB).toBeLessThan(25);
  } finally {
    await kill(worker);
    await batchModule.close();
    await files.close();
    rmSync(dataDir, { recursive: true, force: true });
  }
});
