/**
 * Finds the package `lectern-models`, which is installed beside this one: the built-in embedding model, and Tesseract's
 * language data. `docs/decisions/0023-what-the-package-contains.md` says why these are a package of their own.
 */
import { createRequire } from 'node:module';

/** Returns the path of one of its files, such as `tessdata/eng.traineddata.gz`. Throws if the package is not installed. */
export function modelsFile(name: string): string {
  return createRequire(import.meta.url).resolve(`lectern-models/${name}`);
}
