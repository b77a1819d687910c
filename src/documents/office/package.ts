/** Office packages (ECMA-376, part 2): parts and their relationships, in an archive or in one XML file. */
import { openZip, type Zip } from '../archive/zip.ts';
import { DocumentError } from '../document.ts';
import type { XmlInput } from '../xml/read.ts';
import { attribute, child, children, parseXml, parseXmlPrefix, textOf, type XmlElement } from '../xml/xml.ts';

export interface Relationship {
  readonly id: string;
  /** The last segment of the type's URL: `image`, `hyperlink`, `styles`. */
  readonly type: string;
  /** The name of a part, or the URL as written if the target is external. */
  readonly target: string;
  readonly external: boolean;
}

/** A part of a package. `source` is `undefined` if the part is already parsed. */
export interface Part {
  readonly tree?: XmlElement | undefined;
  readonly source?: XmlInput | undefined;
  readonly complete: boolean;
}

export interface Package {
  part(name: string): Part | undefined;
  /** The root element of an XML part; `undefined` if it is missing or damaged. */
  xml(name: string | undefined): XmlElement | undefined;
  bytes(name: string): Uint8Array | undefined;
  /** The relationships of a part; '' is the package itself. */
  relationships(part: string): readonly Relationship[];
  /** False if the archive is cut off. */
  readonly complete: boolean;
}

export function openPackage(bytes: Uint8Array): Package {
  const start = Buffer.from(bytes.subarray(0, 1024)).toString('latin1');
  return /^(?:\xef\xbb\xbf)?\s*<\?xml|pkg:package/.test(start) ? flatPackage(bytes) : zipPackage(openZip(bytes));
}

function zipPackage(zip: Zip): Package {
  const xml = (name: string | undefined) => {
    if (name === undefined) return undefined;
    const content = zip.salvage(name);
    return content && parseXmlPrefix(content.bytes).root;
  };
  return {
    complete: zip.complete,
    part(name) {
      const content = zip.salvage(name);
      return content && { source: content.bytes, complete: content.complete };
    },
    xml,
    bytes: (name) => zip.salvage(name)?.bytes,
    relationships: (part) => readRelationships(xml(relationshipsOf(part)), part),
  };
}

/** Flat OPC: all parts in one XML file. */
function flatPackage(bytes: Uint8Array): Package {
  const root = parseXml(bytes);
  if (root.name !== 'pkg:package') throw new DocumentError('damaged', 'The file is not an Office document');
  const parts = new Map(
    children(root, 'pkg:part').map((part) => [(attribute(part, 'pkg:name') ?? '').replace(/^\//, ''), part]),
  );
  const xml = (name: string | undefined) =>
    name === undefined ? undefined : children(child(parts.get(name), 'pkg:xmlData'))[0];
  return {
    complete: true,
    part(name) {
      const tree = xml(name);
      return tree && { tree, complete: true };
    },
    xml,
    bytes(name) {
      const data = child(parts.get(name), 'pkg:binaryData');
      return data && Buffer.from(textOf(data), 'base64');
    },
    relationships: (part) => readRelationships(xml(relationshipsOf(part)), part),
  };
}

function relationshipsOf(part: string): string {
  const slash = part.lastIndexOf('/') + 1;
  return `${part.slice(0, slash)}_rels/${part.slice(slash)}.rels`;
}

function readRelationships(root: XmlElement | undefined, part: string): Relationship[] {
  return children(root, 'rel:Relationship').map((element) => {
    const external = attribute(element, 'TargetMode') === 'External';
    const target = attribute(element, 'Target') ?? '';
    return {
      id: attribute(element, 'Id') ?? '',
      type: (attribute(element, 'Type') ?? '').split('/').at(-1)!,
      target: external ? target : resolvePart(part, target),
      external,
    };
  });
}

/** Resolves a reference in a part to the name of another part. Names are only lookup keys. */
function resolvePart(from: string, target: string): string {
  if (target.startsWith('/')) return target.slice(1);
  const steps = from.split('/').slice(0, -1);
  for (const step of target.split('/')) {
    if (step === '..') steps.pop();
    else if (step !== '.' && step !== '') steps.push(step);
  }
  return steps.join('/');
}
