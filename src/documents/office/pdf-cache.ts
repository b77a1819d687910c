/**
 * Caches the PDFs created from Office files, as long as the files exist: a request for one page is often followed by a
 * request for the next.
 */
import { stat } from 'node:fs/promises';

/** Returns the path of the PDF of the file at `path`. Throws what `print` throws. */
export type PdfCache = (path: string, print: () => Promise<string>) => Promise<string>;

/** Maximum number of cached PDFs. The PDFs are deleted by the owner of the file's folder. */
const MAX_ENTRIES = 64;

export function createPdfCache(): PdfCache {
  const paths = new Map<string, string>();
  return async (path, print) => {
    const key = `${path} ${await stampOf(path)}`;
    const found = paths.get(key);
    if (found !== undefined && (await stampOf(found)) !== '') return found;
    const made = await print();
    paths.delete(key);
    paths.set(key, made);
    if (paths.size > MAX_ENTRIES) paths.delete(paths.keys().next().value!);
    return made;
  };
}

/** A value that changes when the file changes; '' if the file does not exist. */
const stampOf = (path: string): Promise<string> =>
  stat(path, { bigint: true }).then(
    ({ ino, size, mtimeNs }) => `${ino} ${size} ${mtimeNs}`,
    () => '',
  );
