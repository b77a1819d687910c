import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { createClient } from '@redis/client';
import { describe, expect, it } from 'vitest';
import { openWorkQueue } from '#storage/work-queue/server.ts';
import { openWorkServer } from '#storage/work-queue/worker.ts';
import { redisUrl } from '../../../test/support/services.ts';
import { TYPES } from '../detect.ts';
import { describeDocuments, type MakeOptions } from '../documents.suite.ts';
import { createDocuments, type Documents } from '../documents.ts';
import { createLibreOffice } from '../office/libreoffice.ts';
import { createRemoteDocuments } from './documents.ts';
import type { DocumentRequest } from './messages.ts';
import { createRemoteDocumentsWorker } from './worker.ts';

const log = { warn() {}, info() {}, error() {} };

/** A server and a worker with their own queue in Redis. */
async function make({ temporaryDir, program, ...limits }: MakeOptions): Promise<Documents & { readonly url: string }> {
  const url = (await redisUrl())!;
  const local = createDocuments({
    processes: 1,
    memoryMb: 1_024,
    timeoutMs: 60_000,
    ...limits,
    libreoffice: createLibreOffice({ program, temporaryDir }),
  });
  const folder = mkdtempSync(path.join(os.tmpdir(), 'lectern-remote-'));
  const queue = await openWorkQueue({ url, kinds: ['documents'], maxWaiting: 100, maxWaitMs: 60_000, log });
  const server = await openWorkServer({ url, log });
  const { attachments } = server;
  const worker = createRemoteDocumentsWorker({ documents: local, attachments, temporaryDir: folder });
  const handler = (request: unknown, signal: AbortSignal) => worker.handle(request as DocumentRequest, signal);
  await server.serve([{ kind: 'documents', slots: 2, handler }]);
  const remote = createRemoteDocuments(queue.work('documents'));
  return {
    ...remote,
    url,
    async close() {
      await remote.close();
      await server.close(0);
      await worker.close();
      expect(readdirSync(folder)).toEqual([]);
      await queue.close();
      await local.close();
      rmSync(folder, { recursive: true });
    },
  };
}

describe.skipIf(!(await redisUrl()))('documents on workers', () => {
  describeDocuments('the contract', make);

  it('send a file once for several requests, and leave neither it nor its password in Redis', async () => {
    const dir = mkdtempSync(path.join(os.tmpdir(), 'lectern-documents-'));
    const documents = await make({ temporaryDir: dir });
    const client = createClient({ url: documents.url });
    await client.connect();
    try {
      const file = { path: path.join(dir, 'names.csv'), size: 8, mediaType: TYPES.csv, password: 'open-sesame' };
      writeFileSync(file.path, 'a,b\n1,2\n');
      const signal = new AbortController().signal;
      for (let count = 0; count < 3; count++) {
        expect((await documents.read(file, {}, signal)).pages[0]!.html).toContain('<td>1');
      }
      const left = async () => {
        const texts: string[] = [];
        for (const key of await client.keys('*')) {
          const type = await client.type(key);
          texts.push(
            key,
            type === 'string'
              ? (await client.get(key))!
              : type === 'hash'
                ? JSON.stringify(await client.hGetAll(key))
                : '',
          );
        }
        return texts.join('\n');
      };
      expect((await left()).match(/:attachment:/g)).toHaveLength(1);
      expect(await left()).not.toContain('open-sesame');
      await documents.close();
      expect(await left()).not.toMatch(/:attachment:|:request:/);
    } finally {
      client.destroy();
      rmSync(dir, { recursive: true });
    }
  });
});
