/** Office files printed as PDF, each once for as long as its print lies there: who wants one page mostly wants the next. */
import { stat } from 'node:fs/promises';

/** The path of the print of the file at `path`. Throws what `print` throws. */
export type Prints = (path: string, print: () => Promise<string>) => Promise<string>;

/** Prints that are known; they are removed by those who own the folder of the file. */
const MOST_KNOWN = 64;

export function createPrints(): Prints {
  const known = new Map<string, string>();
  return async (path, print) => {
    const key = `${path} ${await stampOf(path)}`;
    const found = known.get(key);
    if (found !== undefined && (await stampOf(found)) !== '') return found;
    const made = await print();
    known.delete(key);
    known.set(key, made);
    if (known.size > MOST_KNOWN) known.delete(known.keys().next().value!);
    return made;
  };
}

/** Another one when the file changes; '' when there is none. */
const stampOf = (path: string): Promise<string> =>
  stat(path, { bigint: true }).then(
    ({ ino, size, mtimeNs }) => `${ino} ${size} ${mtimeNs}`,
    () => '',
  );
