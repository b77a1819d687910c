/** Test helper: converts a file to another format with LibreOffice. */
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { type ConvertedTo, createLibreOffice } from './libreoffice.ts';

const TIMEOUT_MS = 60_000;

export async function convertFile(source: string, mediaType: string, to: ConvertedTo): Promise<Uint8Array> {
  const dir = await mkdtemp(path.join(os.tmpdir(), 'lectern-converted-'));
  const office = createLibreOffice({ temporaryDir: dir });
  try {
    const from = path.join(dir, 'source.xml');
    const out = path.join(dir, 'out');
    await mkdir(out);
    await writeFile(from, source);
    return await readFile(await office.convert(from, mediaType, to, out, new AbortController().signal, TIMEOUT_MS));
  } finally {
    await office.close();
    await rm(dir, { recursive: true, force: true });
  }
}
