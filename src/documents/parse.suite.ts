/** Test helpers for document kinds: parse bytes, and get the resulting error. */
import { DocumentError, type DocumentKind, type ParsedDocument } from './document.ts';

export const parse = (kind: DocumentKind, bytes: Uint8Array, page?: number): Promise<ParsedDocument> =>
  kind.parse({ path: '', size: bytes.length, mediaType: '', name: undefined }, bytes, { page });

export const htmlOf = ({ pages }: ParsedDocument): string => pages.map(({ html }) => html).join('\n');

/** The kind of the DocumentError that `work` rejects with, or `none`. Rethrows other errors. */
export const faultOf = (work: Promise<unknown>): Promise<string> => work.then(() => 'none', kindOf);

/** Like `faultOf`, for synchronous work. */
export function faultIn(run: () => unknown): string {
  try {
    run();
    return 'none';
  } catch (error) {
    return kindOf(error);
  }
}

function kindOf(error: unknown): string {
  if (error instanceof DocumentError) return error.kind;
  throw error;
}
