/** Images whose text workers read, and their answers. */
import type { OcrResult } from '../ocr.ts';

export interface OcrRequest {
  readonly picture: Uint8Array;
  readonly languages?: readonly string[] | undefined;
  readonly whole?: boolean | undefined;
}

export type OcrAnswer =
  | { readonly kind: 'text'; readonly result: OcrResult; readonly engine: string }
  /** The image is incomplete, and was required to be whole. */
  | { readonly kind: 'invalid'; readonly message: string };
