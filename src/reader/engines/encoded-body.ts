/** A body with an encoding that has not been detected yet. */
import { decodeUtf8 } from '#html/utf8.ts';

export interface EncodedBody {
  readonly bytes: Uint8Array;
  readonly contentType: string | undefined;
  readonly kind: 'html' | 'text';
}

/** Decodes a body. The tables of other encodings are loaded only if it is not clearly UTF-8. */
export async function decodeBody({ bytes, contentType, kind }: EncodedBody): Promise<string> {
  const utf8 = decodeUtf8(bytes, contentType);
  if (utf8 !== undefined) return utf8;
  const { decodeHtml, decodeText } = await import('#html/decode.ts');
  return (kind === 'html' ? decodeHtml(bytes, contentType) : decodeText(bytes, contentType)).text;
}
