/** Reads URLs and files, several at a time, and saves them as Markdown files. Continues if one of them fails. */
import { openAsBlob } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { createClient, LecternError, type ReadOptions } from 'lectern/client';

const client = createClient({ baseUrl: 'http://localhost:3000', apiKey: process.env.LECTERN_API_KEY });
const options: ReadOptions = { preset: 'reader', retainImages: 'none' };
const CONCURRENCY = 4;

async function read(target: string): Promise<void> {
  const isUrl = URL.canParse(target);
  // A Blob from `openAsBlob` is read from disk while it is sent.
  const source = isUrl ? target : { file: await openAsBlob(target), name: basename(target) };
  const { page } = await client.read(source, options);
  const title = page.title || basename(target);
  const name = `${title.replace(/[^\p{L}\p{N}]+/gu, '-').replace(/^-|-$/g, '') || 'page'}.md`;
  await writeFile(name, `# ${title}\n\n${page.content}\n`);
  console.log(`${target} -> ${name} (${page.usage.tokens} tokens)`);
}

const waiting = process.argv.slice(2);
async function worker(): Promise<void> {
  for (let target = waiting.shift(); target !== undefined; target = waiting.shift()) {
    try {
      await read(target);
    } catch (error) {
      if (!(error instanceof LecternError)) throw error;
      console.log(`${target}: ${error.message} (${error.code})`);
    }
  }
}
await Promise.all(Array.from({ length: CONCURRENCY }, worker));
