/** Text documents in the OpenDocument format: ODT and templates, and flat files (FODT). */
import { openZip, type Zip } from '../../archive/zip.ts';
import {
  DocumentFault,
  type DocumentFile,
  type DocumentKind,
  type ParsedDocument,
  type ParseOptions,
} from '../../document.ts';
import { readPieces } from '../../xml/pieces.ts';
import { parseSoundXml, textOf, type XmlElement } from '../../xml/xml.ts';
import { Flow } from './flow.ts';
import { OdfReader } from './odf-body.ts';
import { StyleCollector } from './odf-styles.ts';
import { createDraw } from './pictures.ts';
import { isoTime } from './properties.ts';
import { CUT_OFF, pickPages, TOO_LONG } from './result.ts';

const STYLES: ReadonlySet<string> = new Set(['office:styles', 'office:font-face-decls']);
const CONTENT: ReadonlySet<string> = new Set([
  'office:meta',
  'office:styles',
  'office:automatic-styles',
  'office:font-face-decls',
  'office:text',
]);
const META: ReadonlySet<string> = new Set(['office:meta']);

export const kind: DocumentKind = {
  async parse(_file: DocumentFile, bytes: Uint8Array, options: ParseOptions): Promise<ParsedDocument> {
    const zip = isArchive(bytes) ? openZip(bytes) : undefined;
    if (zip && isEncrypted(zip)) throw new DocumentFault('encrypted', 'The document is protected by a password');
    const styles = new StyleCollector();
    const about: XmlElement[] = [];
    const flow = new Flow();
    const reader = new OdfReader({
      styles,
      flow,
      draw: createDraw((name) => zip?.salvage(name)?.bytes),
      object: objectFinder(zip),
    });
    const take = (piece: XmlElement, parent: string) => {
      if (parent === 'office:meta') about.push(piece);
      else if (parent !== 'office:text') styles.take(piece);
      else if (!flow.full) reader.read(piece);
    };
    if (zip) {
      for (const [name, parents] of [
        ['styles.xml', STYLES],
        ['meta.xml', META],
      ] as const) {
        const part = zip.salvage(name);
        if (part) readPieces(part.bytes, parents, take);
      }
    }
    const complete = readContent(zip, bytes, take);
    const pages = flow.finish();
    const notes = [...(complete ? [] : [CUT_OFF]), ...(flow.full ? [TOO_LONG] : [])];
    const { title, ...said } = aboutOf(about);
    return {
      title: title || reader.title,
      ...pickPages(pages, options),
      ...said,
      lang: said.lang ?? styles.language,
      notes,
      hiddenCount: reader.hiddenCount,
    };
  },
};

/** Objects inside the document, each parsed once. */
function objectFinder(zip: Zip | undefined) {
  const known = new Map<string, XmlElement | undefined>();
  return (name: string): XmlElement | undefined => {
    if (!known.has(name)) {
      const content = zip?.salvage(`${name}/content.xml`);
      known.set(name, content && parseSoundXml(content.bytes).root);
    }
    return known.get(name);
  };
}

const isArchive = ([p, k]: Uint8Array): boolean => (p === 0x50 && k === 0x4b) || p === 0xd0;

/** A whole package may be encrypted, or each of its files. */
function isEncrypted(zip: Zip): boolean {
  if (zip.has('encrypted-package')) return true;
  const manifest = zip.salvage('META-INF/manifest.xml');
  return manifest !== undefined && Buffer.from(manifest.bytes).includes('encryption-data');
}

/** Returns whether the content was whole. */
function readContent(
  zip: Zip | undefined,
  bytes: Uint8Array,
  take: (piece: XmlElement, parent: string) => void,
): boolean {
  const content = zip ? zip.salvage('content.xml') : { bytes, complete: true };
  let count = 0;
  const counted = (piece: XmlElement, parent: string) => {
    if (parent === 'office:text') count += 1;
    take(piece, parent);
  };
  const whole = content !== undefined && readPieces(content.bytes, CONTENT, counted);
  if (count === 0) throw new DocumentFault('damaged', 'The file is no OpenDocument text, or a damaged one');
  return whole && content.complete && zip?.complete !== false;
}

/** `dc:creator` is who changed the file last, whom files without an author name as the only one. */
const NAMES: Readonly<Record<string, string>> = {
  'dc:title': 'title',
  'dc:creator': 'lastModifiedBy',
  'dc:subject': 'subject',
  'dc:description': 'description',
  'dc:date': 'modified',
  'dc:language': 'language',
  'meta:initial-creator': 'creator',
  'meta:creation-date': 'created',
  'meta:keyword': 'keywords',
  'meta:generator': 'application',
};

function aboutOf(elements: readonly XmlElement[]) {
  const metadata: Record<string, string> = {};
  for (const element of elements) {
    const name = NAMES[element.name];
    const value = textOf(element).trim().slice(0, 2_000);
    if (name === undefined || value === '') continue;
    metadata[name] = metadata[name] === undefined ? value : `${metadata[name]}, ${value}`;
  }
  if (metadata.creator === undefined && metadata.lastModifiedBy !== undefined)
    metadata.creator = metadata.lastModifiedBy;
  return {
    title: metadata.title?.replace(/\s+/g, ' ') ?? '',
    metadata,
    publishedTime: isoTime(metadata.modified) ?? isoTime(metadata.created),
    lang: metadata.language,
  };
}
