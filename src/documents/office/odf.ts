/** OpenDocument files as they come: an archive of parts, or all in one XML file; and what they say about themselves. */
import { openZip } from '../archive/zip.ts';
import { DocumentFault } from '../document.ts';
import { readPieces } from '../xml/pieces.ts';
import { parseSoundXml, textOf, type XmlElement } from '../xml/xml.ts';
import { isoTime } from './word/properties.ts';

export interface OdfFile {
  readonly content: Uint8Array;
  /** The other styles; undefined for flat files, which have them in the content. */
  readonly styles: Uint8Array | undefined;
  /** A part of the package, such as a picture. */
  bytes(name: string): Uint8Array | undefined;
  /** The root of an object inside the document, such as a chart. */
  object(name: string): XmlElement | undefined;
  /** False when the archive or its content is cut off. */
  readonly complete: boolean;
  readonly about: OdfAbout;
}

export interface OdfAbout {
  readonly title: string;
  readonly metadata: Readonly<Record<string, string>>;
  readonly publishedTime: string | undefined;
  readonly lang: string | undefined;
}

/** Throws DocumentFault. */
export function openOdf(bytes: Uint8Array): OdfFile {
  const isFlat = /^(?:\xef\xbb\xbf)?\s*</.test(Buffer.from(bytes.subarray(0, 200)).toString('latin1'));
  if (isFlat) {
    const none = () => undefined;
    return { content: bytes, styles: undefined, bytes: none, object: none, complete: true, about: readAbout(bytes) };
  }
  const zip = openZip(bytes);
  const part = (name: string) => zip.salvage(name)?.bytes;
  const manifest = part('META-INF/manifest.xml');
  if (zip.has('encrypted-package') || (manifest && Buffer.from(manifest).includes('encryption-data'))) {
    throw new DocumentFault('encrypted', 'The document is protected by a password');
  }
  const content = zip.salvage('content.xml');
  if (!content) throw new DocumentFault('damaged', 'The content of the OpenDocument file is missing');
  const meta = part('meta.xml');
  return {
    content: content.bytes,
    styles: part('styles.xml'),
    bytes: part,
    object(name) {
      const object = part(`${name.replace(/^\.\//, '')}/content.xml`);
      return object && parseSoundXml(object).root;
    },
    complete: zip.complete && content.complete,
    about: meta ? readAbout(meta) : { title: '', metadata: {}, publishedTime: undefined, lang: undefined },
  };
}

const NAMES: Readonly<Record<string, string>> = {
  'dc:title': 'title',
  'dc:creator': 'creator',
  'dc:subject': 'subject',
  'dc:description': 'description',
  'dc:date': 'modified',
  'dc:language': 'language',
  'meta:initial-creator': 'initial-creator',
  'meta:creation-date': 'created',
  'meta:keyword': 'keywords',
  'meta:generator': 'application',
};
const META: ReadonlySet<string> = new Set(['office:meta']);
const LONGEST_VALUE = 2_000;

function readAbout(xml: Uint8Array): OdfAbout {
  const metadata: Record<string, string> = {};
  readPieces(xml, META, (element) => {
    const name = NAMES[element.name];
    const value = textOf(element).trim().slice(0, LONGEST_VALUE);
    if (name !== undefined && value !== '') metadata[name] = metadata[name] ? `${metadata[name]}, ${value}` : value;
  });
  return {
    title: metadata.title?.replace(/\s+/g, ' ') ?? '',
    metadata,
    publishedTime: isoTime(metadata.modified) ?? isoTime(metadata.created),
    lang: metadata.language,
  };
}
