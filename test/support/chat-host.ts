/** A model host that serves chat completions with real text recognition, real files and guarded fetching. */
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { createDocuments } from '#documents/documents.ts';
import { createLibreOffice } from '#documents/office/libreoffice.ts';
import { createCompletions, type ModelNames, type Models } from '#models/index.ts';
import { createFetch } from '#net/fetch/fetch.ts';
import { createGuard } from '#net/guard/guard.ts';
import { createOwnPorts } from '#net/guard/own-ports.ts';
import { createRegion } from '#net/region.ts';
import { createOcr } from '#ocr/index.ts';
import { countTokens, keepTokens, loadTokens } from '#reader/index.ts';
import { createLog } from '#telemetry/log.ts';
import { type ModelHostSetup, startModelHost, type TestModelHost } from './model-host.ts';

export interface ChatHostSetup extends Partial<Pick<ModelHostSetup, 'accounts' | 'auth' | 'maxBodyBytes'>> {
  readonly models?: Models;
  readonly names?: ModelNames;
  /** `none` disables text recognition. */
  readonly tesseract?: string;
  /** `host:port` pairs on this machine that the guard allows. */
  readonly allow?: readonly string[];
  readonly deadlineMs?: number;
}

export interface ChatHost extends TestModelHost {
  /** Folder for files while they are processed. */
  readonly temporaryDir: string;
  /** Returns the events of a streamed response, including `[DONE]` and comments. */
  stream(body: object): Promise<{ readonly status: number; readonly type: string | null; readonly events: string[] }>;
}

const TIMEOUT_MS = 120_000;

export async function startChatHost(setup: ChatHostSetup = {}): Promise<ChatHost> {
  const { models, names, tesseract, allow = [], deadlineMs = TIMEOUT_MS, ...serving } = setup;
  const temporaryDir = await mkdtemp(path.join(os.tmpdir(), 'lectern-chat-'));
  const log = createLog('silent');
  const documents = createDocuments({
    processes: 2,
    memoryMb: 1_024,
    timeoutMs: TIMEOUT_MS,
    libreoffice: createLibreOffice({ program: 'none', temporaryDir }),
  });
  const guard = createGuard({ allow: [...allow], isOwnHost: () => false, ownPorts: createOwnPorts() });
  const fetchGuarded = createFetch({ guard, region: createRegion({ region: 'any', euHosts: [], log }) });
  const ocr = createOcr({ tesseract, languages: ['eng'], temporaryDir, timeoutMs: TIMEOUT_MS });
  const completions = createCompletions({
    ocr,
    models,
    names,
    documents,
    fetch: fetchGuarded,
    temporaryDir,
    tokens: { load: loadTokens, count: countTokens, keep: keepTokens },
    deadlineMs,
    generatingMs: deadlineMs,
  });
  const opening = {
    embedder: () => {
      throw new Error('there are no embedders');
    },
    reranker: () => {
      throw new Error('there are no rerankers');
    },
  };
  const host = await startModelHost({ rows: [], opening, completions, ...serving });
  return {
    ...host,
    temporaryDir,
    async stream(body) {
      const answer = await fetch(`${host.url}/v1/chat/completions`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: 'Bearer test-key' },
        body: JSON.stringify({ ...body, stream: true }),
      });
      const events = (await answer.text()).split('\n\n').filter(Boolean);
      return { status: answer.status, type: answer.headers.get('content-type'), events };
    },
    async close() {
      await host.close();
      await ocr?.close();
      await documents.close();
      await fetchGuarded.close();
      await rm(temporaryDir, { recursive: true, force: true });
    },
  };
}
