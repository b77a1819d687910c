/**
 * Word 2003 XML (WordprocessingML, "Word 2003 XML Reference Schemas"): one XML file, read as the package of the newer
 * format that says the same.
 */

import { ownValue } from '#own-value.ts';
import { DocumentError, type DocumentKind } from '../../document.ts';
import type { Attributes } from '../../xml/read.ts';
import {
  attribute,
  child,
  children,
  isElement,
  parseXmlPrefix,
  textOf,
  type XmlElement,
  type XmlNode,
} from '../../xml/xml.ts';
import { readWithHiddenText } from '../hidden-text.ts';
import type { Package, Relationship } from '../package.ts';
import { corePropertiesOf } from '../properties-2003.ts';
import { readText } from './docx.ts';

export const kind: DocumentKind = {
  async parse(_file, bytes, options) {
    const { root, complete } = parseXmlPrefix(bytes);
    if (root?.name !== 'w:wordDocument' || !child(root, 'w:body'))
      throw new DocumentError('damaged', 'The file is damaged or is not a Word document');
    const source = new WordPackage(root, complete);
    return readWithHiddenText((hidden) => readText(source, hidden, options));
  },
};

const element = (name: string, attributes: Attributes, inside: readonly XmlNode[] = []): XmlElement => ({
  name,
  attributes,
  children: inside,
});

const MAIN = 'word/document.xml';
const PROPERTIES = 'docProps/core.xml';

type Rewrite = (from: XmlElement) => XmlNode | undefined;

class WordPackage implements Package {
  readonly complete: boolean;
  readonly #parts = new Map<string, XmlElement>();
  readonly #pictures = new Map<string, Uint8Array>();
  readonly #related: Relationship[] = [];
  readonly #footnotes: XmlElement[] = [];
  readonly #endnotes: XmlElement[] = [];
  readonly #comments: XmlElement[] = [];

  constructor(root: XmlElement, complete: boolean) {
    this.complete = complete;
    const rewritten = (name: string) =>
      element(
        name,
        [],
        children(child(root, name)).flatMap((one) => this.#nodeOf(one)),
      );
    this.#parts.set(PROPERTIES, corePropertiesOf(child(root, 'o:DocumentProperties')));
    this.#parts.set(MAIN, element('w:document', [], [rewritten('w:body')]));
    this.#add('styles', rewritten('w:styles'));
    this.#add('numbering', numberingOf(children(rewritten('w:lists'))));
    this.#add('footnotes', element('w:footnotes', [], this.#footnotes));
    this.#add('endnotes', element('w:endnotes', [], this.#endnotes));
    this.#add('comments', element('w:comments', [], this.#comments));
  }

  #add(type: string, root: XmlElement): void {
    const target = `word/${type}.xml`;
    this.#parts.set(target, root);
    this.#related.push({ id: type, type, target, external: false });
  }

  part(name: string) {
    const tree = this.#parts.get(name);
    return tree && { tree, complete: true };
  }

  xml(name: string | undefined): XmlElement | undefined {
    return this.#parts.get(name ?? '');
  }

  bytes(name: string): Uint8Array | undefined {
    return this.#pictures.get(name);
  }

  relationships(part: string): readonly Relationship[] {
    // Notes and comments refer to the same links and pictures as the text.
    if (part !== '') return this.#related;
    return [
      { id: '', type: 'officeDocument', target: MAIN, external: false },
      { id: '', type: 'core-properties', target: PROPERTIES, external: false },
    ];
  }

  /** The newer form of a node: itself with its content rewritten, unless it has a rule of its own. */
  #nodeOf(node: XmlNode): XmlNode[] {
    if (!isElement(node)) return [node];
    const rule = ownValue(this.#rules, node.name);
    if (!rule) return [element(node.name, node.attributes, this.#inside(node))];
    const made = rule(node);
    return made === undefined ? [] : [made];
  }

  #inside(node: XmlElement): XmlNode[] {
    return node.children.flatMap((inner) => this.#nodeOf(inner));
  }

  readonly #rules: Readonly<Record<string, Rewrite>> = {
    'w:listPr': (from) =>
      element(
        'w:numPr',
        [],
        children(from).map((one) => (one.name === 'w:ilfo' ? element('w:numId', one.attributes) : one)),
      ),
    'w:name': (from) => element('w:name', ['w:val', decodedName(attribute(from, 'w:val') ?? '')]),
    'w:vmerge': (from) => element('w:vMerge', from.attributes),
    'w:hlink': (from) => element('w:hyperlink', this.#link(from), this.#inside(from)),
    'w:footnote': (from) => this.#note('w:footnote', this.#footnotes, from),
    'w:endnote': (from) => this.#note('w:endnote', this.#endnotes, from),
    'w:binData': (from) => this.#picture(from),
    'v:imagedata': (from) => {
      const name = attribute(from, 'src') ?? '';
      this.#related.push({ id: name, type: 'image', target: name, external: !name.startsWith('wordml:') });
      return element('v:imagedata', ['r:id', name]);
    },
    'aml:annotation': (from) => this.#annotation(from),
  };

  #link(from: XmlElement): Attributes {
    const target = attribute(from, 'w:dest');
    if (target === undefined) return [];
    const id = `link${this.#related.length}`;
    this.#related.push({ id, type: 'hyperlink', target, external: true });
    return ['r:id', id];
  }

  /** Notes are stored where they are referenced. */
  #note(name: string, notes: XmlElement[], from: XmlElement): XmlElement {
    const id = String(notes.length);
    // Reserved before its content is read, which may contain notes too.
    const inside: XmlNode[] = [];
    notes.push(element(name, ['w:id', id], inside));
    inside.push(...this.#inside(from));
    return element(`${name}Reference`, ['w:id', id]);
  }

  #picture(from: XmlElement): undefined {
    this.#pictures.set(attribute(from, 'w:name') ?? '', Buffer.from(textOf(from), 'base64'));
  }

  #annotation(from: XmlElement): XmlElement | undefined {
    const content = child(from, 'aml:content');
    const author = ['w:author', attribute(from, 'aml:author') ?? ''];
    switch (attribute(from, 'w:type')) {
      case 'Word.Insertion':
        return element('w:ins', author, content && this.#inside(content));
      case 'Word.Deletion':
        return element('w:del', author, content && this.#inside(content));
      case 'Word.Comment': {
        const id = ['w:id', String(this.#comments.length)];
        this.#comments.push(element('w:comment', [...id, ...author], content && this.#inside(content)));
        return element('w:commentReference', id);
      }
      default:
        // Bookmarks, ends of commented text, and earlier formats.
        return undefined;
    }
  }
}

/** LibreOffice writes the names of styles in the form of OpenDocument: `Heading_20_1`. */
const decodedName = (name: string): string =>
  name.replace(/_([0-9a-f]{2})_/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));

/** Formats of numbers by `w:nfc` (MS-OSHARED 2.2.1.3, MSONFC). Others are decimal. */
const NUMBER_FORMATS: Readonly<Record<string, string>> = {
  1: 'upperRoman',
  2: 'lowerRoman',
  3: 'upperLetter',
  4: 'lowerLetter',
  5: 'ordinal',
  22: 'decimalZero',
  23: 'bullet',
  255: 'none',
};

/** Definitions and lists, whose elements have other names than in the newer format. */
function numberingOf(lists: readonly XmlElement[]): XmlElement {
  return element(
    'w:numbering',
    [],
    lists.flatMap((one) => {
      if (one.name === 'w:listDef') {
        const id = attribute(one, 'w:listDefId') ?? '';
        return [element('w:abstractNum', ['w:abstractNumId', id], children(one, 'w:lvl').map(levelOf))];
      }
      if (one.name !== 'w:list') return [];
      const inside = children(one).map((part) =>
        part.name === 'w:ilst' ? element('w:abstractNumId', part.attributes) : part,
      );
      return [element('w:num', ['w:numId', attribute(one, 'w:ilfo') ?? ''], inside)];
    }),
  );
}

function levelOf(level: XmlElement): XmlElement {
  const code = child(level, 'w:nfc');
  const format = (code && ownValue(NUMBER_FORMATS, attribute(code, 'w:val') ?? '')) ?? 'decimal';
  return element('w:lvl', level.attributes, [...children(level), element('w:numFmt', ['w:val', format])]);
}
