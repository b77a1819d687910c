/** Lectern as a converter: a server built from the current sources, because compiling on demand needs memory. */
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { buildProgram } from '../../test/support/program-build.ts';
import { serve } from '../support.ts';
import { type Converter, oneByOne } from './converter.ts';
import type { TestFile } from './folder.ts';

const TIMEOUT_S = 150;
/** Number of letters of an error that are reported. */
const MAX_REASON = 200;

const ENVIRONMENT = {
  LECTERN_AUTH: 'off',
  LECTERN_BROWSER: 'none',
  LECTERN_MODELS_WARM: '',
  LECTERN_DOCUMENT_TIMEOUT_MS: String(TIMEOUT_S * 1_000),
};

/** Builds the program, so that the time for building is not measured. */
export async function createLectern(): Promise<Converter> {
  const program = await buildProgram();
  return {
    name: 'lectern',
    version: 'this tree',
    reads: () => true,
    async open() {
      const server = await serve(ENVIRONMENT, [], program);
      return oneByOne((file) => convert(server.url, file), server.stop);
    },
  };
}

async function convert(url: string, { name, path: file }: TestFile): Promise<string> {
  const form = new FormData();
  form.set('file', new File([new Uint8Array(await readFile(file))], path.basename(name)));
  const headers = { Accept: 'application/json', 'X-No-Cache': 'true', 'X-Timeout': String(TIMEOUT_S) };
  const answer = await fetch(url, {
    method: 'POST',
    body: form,
    headers: { ...headers, 'X-Respond-With': 'markdown' },
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${answer.status} ${text.slice(0, MAX_REASON)}`);
  return (JSON.parse(text) as { data?: { content?: string } | null }).data?.content ?? '';
}
