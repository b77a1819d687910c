/** What the benchmark of documents compares: a program that converts files to Markdown. */
import type { TestFile } from './folder.ts';

export interface Converter {
  readonly name: string;
  readonly version: string;
  /** The formats that it reads. */
  reads(format: string): boolean;
  open(): Promise<OpenConverter>;
}

export interface OpenConverter {
  /** The Markdown of each file, in order; the error of a file that it cannot convert. */
  convert(files: readonly TestFile[]): AsyncIterable<string | Error>;
  close(): Promise<void>;
}

/** A peer that is not here, with the reason. */
export interface Absent {
  readonly name: string;
  readonly reason: string;
}

const asError = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)));

/** A converter that reads one file after the other. An exception counts as a failed file. */
export const oneByOne = (
  convert: (file: TestFile) => Promise<string>,
  close: () => Promise<void> = async () => undefined,
): OpenConverter => ({
  async *convert(files) {
    for (const file of files) yield await convert(file).catch(asError);
  },
  close,
});
