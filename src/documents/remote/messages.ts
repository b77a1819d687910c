/** Requests for files that workers read and render, and their answers. */
import type { DocumentErrorKind, DocumentFile, PictureOptions, PicturesOptions, ReadOptions } from '../document.ts';
import type { ReadFile } from '../documents.ts';

/** A file whose content is an attachment. */
export interface RemoteFile extends Omit<DocumentFile, 'path'> {
  readonly attachment: string;
}

export type DocumentRequest =
  | { readonly do: 'read'; readonly file: RemoteFile; readonly options: ReadOptions }
  | { readonly do: 'picture'; readonly file: RemoteFile; readonly options: PictureOptions }
  | { readonly do: 'pictures'; readonly file: RemoteFile; readonly options: PicturesOptions };

export type DocumentAnswer =
  | { readonly kind: 'document'; readonly document: ReadFile }
  | { readonly kind: 'picture'; readonly png: Uint8Array | undefined }
  | { readonly kind: 'pictures'; readonly pictures: readonly Uint8Array[] }
  | { readonly kind: 'fault'; readonly fault: DocumentErrorKind; readonly message: string };
