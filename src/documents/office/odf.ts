/** Opens OpenDocument files, as an archive of parts or as one XML file, and reads their metadata. */
import { ownValue } from '#own-value.ts';
import { openZip } from '../archive/zip.ts';
import { DocumentError } from '../document.ts';
import { passwordError } from '../password-error.ts';
import { readPieces } from '../xml/pieces.ts';
import { parseXmlPrefix, textOf, type XmlElement } from '../xml/xml.ts';
import { decryptedParts, type ReadPart } from './encryption/odf-parts.ts';
import { isoTime } from './properties.ts';

export interface OdfFile {
  readonly content: Uint8Array;
  /** The named styles; `undefined` for flat files, which have them in the content. */
  readonly styles: Uint8Array | undefined;
  /** A part of the package, such as an image. */
  bytes(name: string): Uint8Array | undefined;
  /** The root of an embedded object, such as a chart or formula. Each is parsed once. */
  object(name: string): XmlElement | undefined;
  /** False if the archive or its content is cut off. */
  readonly complete: boolean;
  readonly about: OdfAbout;
}

export interface OdfAbout {
  readonly title: string;
  readonly metadata: Readonly<Record<string, string>>;
  readonly publishedTime: string | undefined;
  readonly lang: string | undefined;
}

/** Maps element names to metadata keys. */
export type AboutNames = Readonly<Record<string, string>>;

export const ABOUT_NAMES: AboutNames = {
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

/** Throws DocumentError. */
export function openOdf(
  bytes: Uint8Array,
  { names = ABOUT_NAMES, password }: { readonly names?: AboutNames; readonly password?: string | undefined } = {},
): OdfFile {
  if (isFlat(bytes)) {
    const none = () => undefined;
    const about = readAbout(bytes, names);
    return { content: bytes, styles: undefined, bytes: none, object: none, complete: true, about };
  }
  const zip = openZip(bytes);
  const manifest = zip.salvage('META-INF/manifest.xml')?.bytes;
  // The whole package may be encrypted, or each of its files.
  if (zip.has('encrypted-package')) {
    if (password === undefined) throw passwordError('document', password);
    throw new DocumentError('unsupported', 'The document is encrypted with a method that is not supported');
  }
  const isEncrypted = manifest && Buffer.from(manifest).includes('encryption-data');
  const salvage: ReadPart = isEncrypted ? decryptedParts(zip, manifest, password) : zip.salvage;
  const part = (name: string) => salvage(name)?.bytes;
  const content = salvage('content.xml');
  if (!content) throw new DocumentError('damaged', 'The content of the OpenDocument file is missing');
  const objects = new Map<string, XmlElement | undefined>();
  return {
    content: content.bytes,
    styles: part('styles.xml'),
    bytes: part,
    object(name) {
      const path = `${name.replace(/^\.\//, '')}/content.xml`;
      if (!objects.has(path)) {
        const object = part(path);
        objects.set(path, object && parseXmlPrefix(object).root);
      }
      return objects.get(path);
    },
    complete: zip.complete && content.complete,
    about: readAbout(part('meta.xml'), names),
  };
}

/** Checks the first character, in UTF-8 or UTF-16. */
const isFlat = (bytes: Uint8Array): boolean =>
  /^(?:\xef\xbb\xbf|\xff\xfe|\xfe\xff)?[\s\0]*</.test(Buffer.from(bytes.subarray(0, 200)).toString('latin1'));

const META: ReadonlySet<string> = new Set(['office:meta']);
const LONGEST_VALUE = 2_000;

function readAbout(xml: Uint8Array | undefined, names: AboutNames): OdfAbout {
  const metadata: Record<string, string> = {};
  const take = (element: XmlElement) => {
    const name = ownValue(names, element.name);
    const value = textOf(element).trim().slice(0, LONGEST_VALUE);
    if (name !== undefined && value !== '') metadata[name] = metadata[name] ? `${metadata[name]}, ${value}` : value;
  };
  if (xml) readPieces(xml, META, take);
  return {
    title: metadata.title?.replace(/\s+/g, ' ') ?? '',
    metadata,
    publishedTime: isoTime(metadata.modified) ?? isoTime(metadata.created),
    lang: metadata.language,
  };
}
