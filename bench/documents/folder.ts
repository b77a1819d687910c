/** A folder of documents with their truth: `manifest.json`, `<format>/<source>/<file>`, `truth/<format>/<source>/<file>.json`. */
import { readFileSync } from 'node:fs';
import path from 'node:path';

export interface TestFile {
  /** The path inside the folder, as in the manifest. */
  readonly name: string;
  readonly format: string;
  readonly path: string;
  readonly truth: Truth;
}

/** The parts of a truth that the benchmark reads itself. */
export interface Truth {
  /** The text in reading order. */
  readonly text: string;
  /** For PDFs: the text of each page. */
  readonly pages?: readonly string[];
  /** Running heads and feet, with digits as `#`. They may be absent from an answer. */
  readonly repeats?: readonly string[];
  /** Text that an answer may contain or not: comments, speaker notes. */
  readonly aside?: Readonly<Record<string, string>>;
}

export interface Selection {
  readonly formats?: readonly string[] | undefined;
  /** Maximum number of files of each format. */
  readonly limit?: number | undefined;
}

/** The files by format, in the order of the manifest. */
export function readFolder(folder: string, { formats, limit }: Selection): Map<string, TestFile[]> {
  const manifest = JSON.parse(readFileSync(path.join(folder, 'manifest.json'), 'utf8')) as {
    readonly files: readonly { readonly file: string }[];
  };
  const found = new Map<string, TestFile[]>();
  for (const { file } of manifest.files) {
    const format = file.split('/')[0]!;
    if (formats && !formats.includes(format)) continue;
    const files = found.get(format) ?? [];
    found.set(format, files);
    if (limit !== undefined && files.length >= limit) continue;
    const truth = JSON.parse(readFileSync(path.join(folder, 'truth', `${file}.json`), 'utf8')) as Truth;
    files.push({ name: file, format, path: path.join(folder, file), truth });
  }
  return found;
}

/** The unit of speed: pages of PDFs, documents of other formats. */
export const unitsOf = (files: readonly TestFile[]): number =>
  files.reduce((sum, { truth }) => sum + Math.max(1, truth.pages?.length ?? 1), 0);
