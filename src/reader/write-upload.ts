/** Writes a file that came with the request to disk, for the document reader. */
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { FileSnapshot } from './file.ts';
import type { Target } from './target.ts';

export async function writeUpload({ url, upload }: Target, folder: string): Promise<FileSnapshot> {
  const { bytes, mediaType, contentType, name } = upload!;
  const file = path.join(folder, 'upload');
  await writeFile(file, bytes, { mode: 0o600 });
  return {
    url,
    status: 200,
    statusText: 'OK',
    mediaType,
    text: '',
    settled: true,
    hiddenFrames: false,
    hiddenShadow: false,
    notes: [],
    engine: 'given',
    file: { path: file, size: bytes.byteLength, mediaType, contentType, name },
  };
}
