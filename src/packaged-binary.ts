/** Reads binary files of other packages: from the sources as they are, from the built package compressed. */
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { brotliDecompress } from 'node:zlib';

const decompress = promisify(brotliDecompress);

/** Returns the bytes of `file`, or those of `file.br` decompressed. */
export async function readPackagedBinary(file: string): Promise<Uint8Array> {
  const bytes = await readFile(file).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
    return undefined;
  });
  return bytes ?? decompress(await readFile(`${file}.br`));
}
