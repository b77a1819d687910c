/** Lectern as a converter: the reader API inside this process, without ports, cache and search index. */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { openInProcess } from '#app/in-process.ts';
import { createReaderOnly } from '#app/reader-only.ts';
import { processTemporaryFolder } from '#app/temporary-folder.ts';
import { readConfig } from '#config.ts';
import { createLog } from '#telemetry/log.ts';
import { type Converter, type OpenConverter, oneByOne } from './converter.ts';
import type { TestFile } from './folder.ts';

const TIMEOUT_S = 150;
/** Number of letters of an error that are reported. */
const MAX_REASON = 200;

async function open(): Promise<OpenConverter> {
  const dataDir = await mkdtemp(path.join(os.tmpdir(), 'lectern-bench-documents-'));
  const config = {
    ...readConfig({ environment: process.env, flags: { dataDir } }),
    auth: 'off' as const,
    limitStore: 'memory' as const,
    indexMaxBytes: 0,
    documentTimeoutMs: TIMEOUT_S * 1_000,
    modelsWarm: [],
    drainMs: 0,
  };
  await processTemporaryFolder();
  const { face, close } = await createReaderOnly({ config, version: 'bench', log: createLog('silent', 'stderr') });
  const { fetch, urls, close: closeSocket } = await openInProcess({ reader: face });
  const convert = async ({ name, path: file }: TestFile): Promise<string> => {
    const form = new FormData();
    form.set('file', new File([new Uint8Array(await readFile(file))], path.basename(name)));
    const headers = { Accept: 'application/json', 'X-No-Cache': 'true', 'X-Timeout': String(TIMEOUT_S) };
    const answer = await fetch(urls.reader, {
      method: 'POST',
      body: form,
      headers: { ...headers, 'X-Respond-With': 'markdown' },
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${answer.status} ${text.slice(0, MAX_REASON)}`);
    return (JSON.parse(text) as { data?: { content?: string } | null }).data?.content ?? '';
  };
  return oneByOne(convert, async () => {
    await closeSocket();
    await close();
    await rm(dataDir, { recursive: true, force: true });
  });
}

export const LECTERN: Converter = { name: 'lectern', version: 'this tree', reads: () => true, open };
