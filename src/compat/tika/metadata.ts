/** The metadata of a document under Tika's names. All values are texts or lists of texts. */
import { ownValue } from '#own-value.ts';
import type { Page } from '#reader/index.ts';
import type { ReadAnswer } from '../native/read.ts';

export type Metadata = Record<string, string | string[]>;

/** Tika's names of what documents call differently. */
const NAMES: Readonly<Record<string, string>> = {
  title: 'dc:title',
  Title: 'dc:title',
  creator: 'dc:creator',
  author: 'dc:creator',
  Author: 'dc:creator',
  created: 'dcterms:created',
  CreationDate: 'dcterms:created',
  modified: 'dcterms:modified',
  ModDate: 'dcterms:modified',
  subject: 'dc:subject',
  Subject: 'dc:subject',
  description: 'dc:description',
  keywords: 'meta:keyword',
  Keywords: 'meta:keyword',
  publisher: 'dc:publisher',
  lang: 'language',
  language: 'language',
  Creator: 'xmp:CreatorTool',
  Producer: 'pdf:producer',
  from: 'Message-From',
  to: 'Message-To',
  cc: 'Message-Cc',
  date: 'dcterms:created',
  width: 'tiff:ImageWidth',
  height: 'tiff:ImageLength',
};
const PDF = 'application/pdf';

export interface FileOfMetadata {
  readonly size: number;
  readonly name: string | undefined;
}

export function metadataOf({ page, rendition }: ReadAnswer, { size, name }: FileOfMetadata): Metadata {
  const type = rendition.mediaType || 'application/octet-stream';
  const parsers = ['Lectern'];
  return {
    'Content-Type': type,
    'Content-Length': String(size),
    'X-TIKA:Parsed-By': parsers,
    'tk:parsed-by': parsers,
    ...(name && { resourceName: name }),
    ...ownMetadata(page, type),
    ...(isOwnTitle(page.title, name) && { 'dc:title': page.title }),
    ...(page.numPages !== undefined && { 'xmpTPg:NPages': String(page.numPages) }),
  };
}

/** The reader names a document without a title after its file, or after the hash of its bytes. */
const isOwnTitle = (title: string, name: string | undefined): boolean =>
  title !== '' && title !== name && !/^[0-9a-f]{64}(?:\.|$)/.test(title);

function ownMetadata({ metadata = {} }: Page, type: string): Metadata {
  const out: Metadata = {};
  for (const [name, value] of Object.entries(metadata)) {
    if (name.startsWith('lectern:')) continue;
    const known = ownValue(NAMES, name);
    if (known) out[known] ??= value;
    if (type === PDF) out[`pdf:docinfo:${name.toLowerCase()}`] = value;
    else if (!known) out[`meta:${name}`] = value;
  }
  return out;
}
