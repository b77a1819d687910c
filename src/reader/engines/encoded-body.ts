/** A body with an encoding that has not been detected yet. */
import { decodeHtml, decodeText } from '#html/decode.ts';

export interface EncodedBody {
  readonly bytes: Uint8Array;
  readonly contentType: string | undefined;
  readonly kind: 'html' | 'text';
}

export const decodeBody = ({ bytes, contentType, kind }: EncodedBody): string =>
  (kind === 'html' ? decodeHtml(bytes, contentType) : decodeText(bytes, contentType)).text;
