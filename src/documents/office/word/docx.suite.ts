/** Test helpers: Word documents built from XML. */
import { strToU8, zipSync } from 'fflate';

const NAMESPACES = {
  w: 'http://schemas.openxmlformats.org/wordprocessingml/2006/main',
  r: 'http://schemas.openxmlformats.org/officeDocument/2006/relationships',
  m: 'http://schemas.openxmlformats.org/officeDocument/2006/math',
  a: 'http://schemas.openxmlformats.org/drawingml/2006/main',
  pic: 'http://schemas.openxmlformats.org/drawingml/2006/picture',
  wp: 'http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing',
  wps: 'http://schemas.microsoft.com/office/word/2010/wordprocessingShape',
  mc: 'http://schemas.openxmlformats.org/markup-compatibility/2006',
  v: 'urn:schemas-microsoft-com:vml',
  o: 'urn:schemas-microsoft-com:office:office',
} as const;

const DECLARED = Object.entries(NAMESPACES)
  .map(([prefix, uri]) => ` xmlns:${prefix}="${uri}"`)
  .join('');

const OFFICE = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';

export interface Parts {
  readonly styles?: string;
  readonly numbering?: string;
  readonly footnotes?: string;
  /** Relationships of the text: id, type, target; external ones have a `:` in their target. */
  readonly related?: readonly (readonly [id: string, type: string, target: string])[];
  readonly files?: Readonly<Record<string, Uint8Array>>;
  readonly core?: string;
}

export const documentXml = (body: string): string =>
  `<?xml version="1.0" encoding="UTF-8"?><w:document${DECLARED}><w:body>${body}</w:body></w:document>`;

/** The files of a package. */
export function packageFiles(body: string, parts: Parts = {}): Record<string, Uint8Array> {
  const files: Record<string, Uint8Array> = { ...parts.files };
  const related = [...(parts.related ?? [])];
  for (const name of ['styles', 'numbering', 'footnotes'] as const) {
    const content = parts[name];
    if (content === undefined) continue;
    files[`word/${name}.xml`] = strToU8(`<w:${name}${DECLARED}>${content}</w:${name}>`);
    related.push([name, name, `${name}.xml`]);
  }
  const relationship = ([id, type, target]: readonly [string, string, string]) =>
    `<Relationship Id="${id}" Type="${OFFICE}/${type}" Target="${target}"${target.includes(':') ? ' TargetMode="External"' : ''}/>`;
  const list = (items: readonly (readonly [string, string, string])[]) =>
    strToU8(
      `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">${items.map(relationship).join('')}</Relationships>`,
    );
  files['word/document.xml'] = strToU8(documentXml(body));
  files['word/_rels/document.xml.rels'] = list(related);
  files['_rels/.rels'] = list([
    ['main', 'officeDocument', 'word/document.xml'],
    ...(parts.core === undefined ? [] : ([['core', 'metadata/core-properties', 'docProps/core.xml']] as const)),
  ]);
  if (parts.core !== undefined) {
    files['docProps/core.xml'] = strToU8(
      `<cp:coreProperties xmlns:cp="http://schemas.openxmlformats.org/package/2006/metadata/core-properties" xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:dcterms="http://purl.org/dc/terms/">${parts.core}</cp:coreProperties>`,
    );
  }
  return files;
}

export const docx = (body: string, parts?: Parts): Uint8Array => zipSync(packageFiles(body, parts));

/** A paragraph with properties and runs of text or XML. */
export const p = (content: string, properties = ''): string =>
  `<w:p>${properties === '' ? '' : `<w:pPr>${properties}</w:pPr>`}${content.startsWith('<') ? content : r(content)}</w:p>`;

export const r = (text: string, properties = ''): string =>
  `<w:r>${properties === '' ? '' : `<w:rPr>${properties}</w:rPr>`}<w:t xml:space="preserve">${text}</w:t></w:r>`;

export const style = (id: string, name: string, more = '', type = 'paragraph'): string =>
  `<w:style w:type="${type}" w:styleId="${id}"><w:name w:val="${name}"/>${more}</w:style>`;

export const styled = (id: string): string => `<w:pStyle w:val="${id}"/>`;
