/** For tests of kinds of documents: parsing bytes, and what that ends in. */
import { DocumentError, type DocumentKind, type ParsedDocument } from './document.ts';

export const parse = (kind: DocumentKind, bytes: Uint8Array, page?: number): Promise<ParsedDocument> =>
  kind.parse({ path: '', size: bytes.length, mediaType: '', name: undefined }, bytes, { page });

export const htmlOf = ({ pages }: ParsedDocument): string => pages.map(({ html }) => html).join('\n');

/** The kind of the fault that work ends in, or `none`; throws what is no fault. */
export const faultOf = (work: Promise<unknown>): Promise<string> => work.then(() => 'none', kindOf);

/** As `faultOf`, of work that is done at once. */
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
