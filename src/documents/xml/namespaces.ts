/**
 * The namespaces of supported documents, each with the prefix that Lectern uses for it, regardless of the prefix in the
 * file. Transitional and Strict Office Open XML (ISO/IEC 29500) share a prefix.
 */

/** The start of namespace names in Transitional Office Open XML, and its Strict counterpart. */
const OPEN_XML = ['http://schemas.openxmlformats.org/', 'http://purl.oclc.org/ooxml/'] as const;

const OPEN_XML_PATHS: Readonly<Record<string, readonly [transitional: string, strict: string]>> = {
  w: ['wordprocessingml/2006/main', 'wordprocessingml/main'],
  x: ['spreadsheetml/2006/main', 'spreadsheetml/main'],
  p: ['presentationml/2006/main', 'presentationml/main'],
  a: ['drawingml/2006/main', 'drawingml/main'],
  c: ['drawingml/2006/chart', 'drawingml/chart'],
  dgm: ['drawingml/2006/diagram', 'drawingml/diagram'],
  pic: ['drawingml/2006/picture', 'drawingml/picture'],
  wp: ['drawingml/2006/wordprocessingDrawing', 'drawingml/wordprocessingDrawing'],
  xdr: ['drawingml/2006/spreadsheetDrawing', 'drawingml/spreadsheetDrawing'],
  r: ['officeDocument/2006/relationships', 'officeDocument/relationships'],
  m: ['officeDocument/2006/math', 'officeDocument/math'],
  ap: ['officeDocument/2006/extended-properties', 'officeDocument/extendedProperties'],
  op: ['officeDocument/2006/custom-properties', 'officeDocument/customProperties'],
  vt: ['officeDocument/2006/docPropsVTypes', 'officeDocument/docPropsVTypes'],
};

const OTHERS: Readonly<Record<string, string>> = {
  xml: 'http://www.w3.org/XML/1998/namespace',
  // Packages (OPC)
  rel: 'http://schemas.openxmlformats.org/package/2006/relationships',
  ct: 'http://schemas.openxmlformats.org/package/2006/content-types',
  cp: 'http://schemas.openxmlformats.org/package/2006/metadata/core-properties',
  dc: 'http://purl.org/dc/elements/1.1/',
  dcterms: 'http://purl.org/dc/terms/',
  pkg: 'http://schemas.microsoft.com/office/2006/xmlPackage',
  mc: 'http://schemas.openxmlformats.org/markup-compatibility/2006',
  // Microsoft's extensions
  w14: 'http://schemas.microsoft.com/office/word/2010/wordml',
  w15: 'http://schemas.microsoft.com/office/word/2012/wordml',
  wps: 'http://schemas.microsoft.com/office/word/2010/wordprocessingShape',
  wpg: 'http://schemas.microsoft.com/office/word/2010/wordprocessingGroup',
  wpc: 'http://schemas.microsoft.com/office/word/2010/wordprocessingCanvas',
  a14: 'http://schemas.microsoft.com/office/drawing/2010/main',
  adec: 'http://schemas.microsoft.com/office/drawing/2017/decorative',
  p14: 'http://schemas.microsoft.com/office/powerpoint/2010/main',
  x14: 'http://schemas.microsoft.com/office/spreadsheetml/2009/9/main',
  xm: 'http://schemas.microsoft.com/office/excel/2006/main',
  v: 'urn:schemas-microsoft-com:vml',
  o: 'urn:schemas-microsoft-com:office:office',
  // OpenDocument
  office: 'urn:oasis:names:tc:opendocument:xmlns:office:1.0',
  text: 'urn:oasis:names:tc:opendocument:xmlns:text:1.0',
  table: 'urn:oasis:names:tc:opendocument:xmlns:table:1.0',
  draw: 'urn:oasis:names:tc:opendocument:xmlns:drawing:1.0',
  style: 'urn:oasis:names:tc:opendocument:xmlns:style:1.0',
  number: 'urn:oasis:names:tc:opendocument:xmlns:datastyle:1.0',
  presentation: 'urn:oasis:names:tc:opendocument:xmlns:presentation:1.0',
  chart: 'urn:oasis:names:tc:opendocument:xmlns:chart:1.0',
  form: 'urn:oasis:names:tc:opendocument:xmlns:form:1.0',
  meta: 'urn:oasis:names:tc:opendocument:xmlns:meta:1.0',
  manifest: 'urn:oasis:names:tc:opendocument:xmlns:manifest:1.0',
  svg: 'urn:oasis:names:tc:opendocument:xmlns:svg-compatible:1.0',
  fo: 'urn:oasis:names:tc:opendocument:xmlns:xsl-fo-compatible:1.0',
  officeooo: 'http://openoffice.org/2009/office',
  loext: 'urn:org:documentfoundation:names:experimental:office:xmlns:loext:1.0',
  xlink: 'http://www.w3.org/1999/xlink',
  math: 'http://www.w3.org/1998/Math/MathML',
  // EPUB
  container: 'urn:oasis:names:tc:opendocument:xmlns:container',
  opf: 'http://www.idpf.org/2007/opf',
  ncx: 'http://www.daisy.org/z3986/2005/ncx/',
  html: 'http://www.w3.org/1999/xhtml',
  enc: 'http://www.w3.org/2001/04/xmlenc#',
  // Office 2003
  aml: 'http://schemas.microsoft.com/aml/2001/core',
  ss: 'urn:schemas-microsoft-com:office:spreadsheet',
  xl: 'urn:schemas-microsoft-com:office:excel',
  html4: 'http://www.w3.org/TR/REC-html40',
};

/** Namespaces of older formats whose names mean the same as those of newer ones. */
const OLDER: readonly (readonly [uri: string, prefix: string])[] = [
  ['http://schemas.microsoft.com/office/word/2003/wordml', 'w'],
];

const PREFIXES: ReadonlyMap<string, string> = new Map([
  ...Object.entries(OPEN_XML_PATHS).flatMap(([prefix, paths]) =>
    paths.map((path, at): [string, string] => [OPEN_XML[at]! + path, prefix]),
  ),
  ...Object.entries(OTHERS).map(([prefix, uri]): [string, string] => [uri, prefix]),
  ...OLDER,
]);

/** Prefix of names in a namespace that is not in the table. */
export const UNKNOWN = '?';

export const prefixOf = (uri: string): string => PREFIXES.get(uri.trim()) ?? UNKNOWN;
