/** EPUB containers (EPUB 3.3, sections 4 and 5, and EPUB 2): the list of chapters and the metadata. */
import { ownValue, setOwnValue } from '#own-value.ts';
import type { Zip } from '../archive/zip.ts';
import { DocumentError } from '../document.ts';
import { attribute, children, descendants, parseXmlPrefix, textOf, type XmlElement } from '../xml/xml.ts';

export interface Chapter {
  /** The file name in the archive. */
  readonly name: string;
}

export interface Book {
  /** In reading order. The navigation page is a chapter if the book shows it as a page. */
  readonly chapters: readonly Chapter[];
  /** Dublin Core values by their names without prefix; repeated values are joined. */
  readonly metadata: Readonly<Record<string, string>>;
  readonly modified: string | undefined;
}

export function readBook(zip: Zip): Book {
  const opfName = packageName(zip);
  const root = rootOf(zip, opfName);
  const manifest = new Map<string, XmlElement>();
  const spine: string[] = [];
  const aside = new Set<string>();
  for (const element of root ? descendants(root) : []) {
    if (localName(element) === 'item') manifest.set(attribute(element, 'id') ?? '', element);
    else if (localName(element) === 'itemref') {
      const id = attribute(element, 'idref') ?? '';
      spine.push(id);
      if (attribute(element, 'linear') === 'no') aside.add(id);
    }
  }
  const isListed = spine.length > 0;
  const items = (isListed ? spine : [...manifest.keys()]).map((id) => ({ item: manifest.get(id), id }));
  const found = items
    .filter(({ item, id }) => item && isText(item) && (!isNavigation(item) || (isListed && !aside.has(id))))
    .map(({ item }) => chapterOf(item!, opfName));
  // Removes duplicates: a small spine that lists one chapter many times would produce a huge document.
  const chapters = [...new Map(found.map((chapter) => [chapter.name, chapter])).values()];
  if (chapters.length === 0) throw new DocumentError('damaged', 'The file is damaged or is not an EPUB book');
  refuseEncrypted(zip, chapters);
  return { chapters, ...aboutOf(root!) };
}

export const localName = ({ name }: XmlElement): string => name.slice(name.indexOf(':') + 1);

const rootOf = (zip: Zip, name: string): XmlElement | undefined => {
  const content = zip.salvage(name);
  return content && parseXmlPrefix(content.bytes).root;
};

function packageName(zip: Zip): string {
  const container = rootOf(zip, 'META-INF/container.xml');
  for (const element of container ? descendants(container) : []) {
    const name = localName(element) === 'rootfile' ? attribute(element, 'full-path') : undefined;
    if (name !== undefined && zip.has(name)) return name;
  }
  const found = zip.names.find((name) => name.toLowerCase().endsWith('.opf'));
  if (found === undefined) throw new DocumentError('damaged', 'The file is damaged or is not an EPUB book');
  return found;
}

const isText = (item: XmlElement): boolean =>
  /^(?:application\/xhtml\+xml|text\/(?:html|x-oeb1-document))$/i.test(attribute(item, 'media-type') ?? '');

const isNavigation = (item: XmlElement): boolean => (attribute(item, 'properties') ?? '').split(/\s+/).includes('nav');

const chapterOf = (item: XmlElement, opfName: string): Chapter => ({
  name: resolveName(opfName, attribute(item, 'href') ?? ''),
});

/** Resolves a reference in a file to a file name in the archive, without the fragment. Names are only lookup keys. */
export function resolveName(from: string, reference: string): string {
  const [path = ''] = reference.split('#', 1);
  let plain = path;
  try {
    plain = decodeURIComponent(path);
  } catch {
    // A percent sign that does not start an escape sequence is a literal character.
  }
  if (plain === '') return from;
  const steps = plain.startsWith('/') ? [] : from.split('/').slice(0, -1);
  for (const step of plain.split('/')) {
    if (step === '..') steps.pop();
    else if (step !== '.' && step !== '') steps.push(step);
  }
  return steps.join('/');
}

/** Algorithms that obfuscate fonts. Fonts are not needed; any other encrypted file cannot be read. */
const SCRAMBLED_FONTS: ReadonlySet<string> = new Set([
  'http://www.idpf.org/2008/embedding',
  'http://ns.adobe.com/pdf/enc#RC',
]);

function refuseEncrypted(zip: Zip, chapters: readonly Chapter[]): void {
  const encryption = rootOf(zip, 'META-INF/encryption.xml');
  const names = new Set(chapters.map(({ name }) => name));
  for (const data of encryption ? descendants(encryption) : []) {
    if (localName(data) !== 'EncryptedData') continue;
    let [algorithm, reference] = ['', ''];
    for (const element of descendants(data)) {
      if (localName(element) === 'EncryptionMethod') algorithm ||= attribute(element, 'Algorithm') ?? '';
      if (localName(element) === 'CipherReference') reference = attribute(element, 'URI') ?? '';
    }
    if (!SCRAMBLED_FONTS.has(algorithm) && names.has(resolveName('', reference))) {
      throw new DocumentError('encrypted', 'The book is encrypted with DRM (digital rights management)');
    }
  }
}

const LONGEST_VALUE = 4_000;

function aboutOf(root: XmlElement): Pick<Book, 'metadata' | 'modified'> {
  const metadata: Record<string, string> = {};
  let modified: string | undefined;
  const holder = children(root).find((element) => localName(element) === 'metadata');
  for (const element of holder ? descendants(holder) : []) {
    const value = textOf(element).replace(/\s+/g, ' ').trim();
    if (attribute(element, 'property') === 'dcterms:modified') modified = value;
    if (!element.name.startsWith('dc:') || value === '') continue;
    const name = element.name.slice(3);
    const before = ownValue(metadata, name);
    if (before === undefined) setOwnValue(metadata, name, value.slice(0, LONGEST_VALUE));
    else if (name !== 'title' && name !== 'date' && before.length < LONGEST_VALUE)
      setOwnValue(metadata, name, `${before}, ${value}`);
  }
  return { metadata, modified };
}
