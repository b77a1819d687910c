/** Detects the type of a file by its first bytes and its name, and lists the supported types. */
import { ownValue } from '#own-value.ts';

const OOXML = 'application/vnd.openxmlformats-officedocument';
const ODF = 'application/vnd.oasis.opendocument';

export const TYPES = {
  pdf: 'application/pdf',
  docx: `${OOXML}.wordprocessingml.document`,
  xlsx: `${OOXML}.spreadsheetml.sheet`,
  pptx: `${OOXML}.presentationml.presentation`,
  odt: `${ODF}.text`,
  ods: `${ODF}.spreadsheet`,
  odp: `${ODF}.presentation`,
  rtf: 'application/rtf',
  epub: 'application/epub+zip',
  doc: 'application/msword',
  xls: 'application/vnd.ms-excel',
  ppt: 'application/vnd.ms-powerpoint',
  eml: 'message/rfc822',
  msg: 'application/vnd.ms-outlook',
  wordXml: 'application/vnd.ms-wordml',
  excelXml: 'application/vnd.ms-spreadsheetml',
  csv: 'text/csv',
  tsv: 'text/tab-separated-values',
  xml: 'application/xml',
  rss: 'application/rss+xml',
  atom: 'application/atom+xml',
  jsonFeed: 'application/feed+json',
  svg: 'image/svg+xml',
  zip: 'application/zip',
  ole: 'application/x-ole-storage',
} as const;

/** Other names of the same types. */
const ALIASES: Readonly<Record<string, string>> = {
  'application/x-pdf': TYPES.pdf,
  'application/acrobat': TYPES.pdf,
  'text/pdf': TYPES.pdf,
  'text/rtf': TYPES.rtf,
  'text/richtext': TYPES.rtf,
  'application/x-rtf': TYPES.rtf,
  'application/x-msg': TYPES.msg,
  'application/msoutlook': TYPES.msg,
  'application/x-eml': TYPES.eml,
  'application/csv': TYPES.csv,
  'text/x-csv': TYPES.csv,
  'text/comma-separated-values': TYPES.csv,
  'text/tsv': TYPES.tsv,
  'text/xml': TYPES.xml,
  'text/x-opml': TYPES.xml,
  'text/x-opml+xml': TYPES.xml,
  'application/x-zip-compressed': TYPES.zip,
  'application/excel': TYPES.xls,
  'application/x-msexcel': TYPES.xls,
  'application/mspowerpoint': TYPES.ppt,
  'application/x-mspowerpoint': TYPES.ppt,
  'application/x-msword': TYPES.doc,
  'application/vnd.ms-word.document.macroenabled.12': TYPES.docx,
  'application/vnd.ms-word.template.macroenabled.12': TYPES.docx,
  [`${OOXML}.wordprocessingml.template`]: TYPES.docx,
  'application/vnd.ms-excel.sheet.macroenabled.12': TYPES.xlsx,
  'application/vnd.ms-excel.template.macroenabled.12': TYPES.xlsx,
  'application/vnd.ms-excel.sheet.binary.macroenabled.12': TYPES.xlsx,
  [`${OOXML}.spreadsheetml.template`]: TYPES.xlsx,
  'application/vnd.ms-powerpoint.presentation.macroenabled.12': TYPES.pptx,
  'application/vnd.ms-powerpoint.slideshow.macroenabled.12': TYPES.pptx,
  [`${OOXML}.presentationml.slideshow`]: TYPES.pptx,
  [`${OOXML}.presentationml.template`]: TYPES.pptx,
  [`${ODF}.text-template`]: TYPES.odt,
  [`${ODF}.text-flat-xml`]: TYPES.odt,
  'application/vnd.oasis.opendocument.spreadsheet-template': TYPES.ods,
  [`${ODF}.spreadsheet-flat-xml`]: TYPES.ods,
  [`${ODF}.presentation-template`]: TYPES.odp,
  [`${ODF}.presentation-flat-xml`]: TYPES.odp,
  'image/jpg': 'image/jpeg',
  'image/pjpeg': 'image/jpeg',
  'image/x-png': 'image/png',
  'image/x-ms-bmp': 'image/bmp',
  'image/vnd.microsoft.icon': 'image/x-icon',
};

/** Types whose comments and tracked changes are read. */
const ANNOTATED = new Set<string>(
  (
    // biome-ignore format: one line
    ['pdf', 'docx', 'doc', 'wordXml', 'odt', 'rtf', 'xlsx', 'xls', 'excelXml', 'ods', 'pptx', 'ppt', 'odp', 'eml', 'msg'] as const
  ).map((name) => TYPES[name]),
);

export const hasAnnotations = (mediaType: string): boolean => ANNOTATED.has(mediaType);

/** The canonical name of a type. */
export const canonicalType = (mediaType: string): string => ownValue(ALIASES, mediaType) ?? mediaType;

const KNOWN = new Set<string>(Object.values(TYPES));

/** Whether a file with this declared type is worth downloading: its content may turn out to be a supported type. */
export function isReadableType(mediaType: string): boolean {
  const type = canonicalType(mediaType);
  return KNOWN.has(type) || type.startsWith('image/') || (type.endsWith('+xml') && type !== 'application/xhtml+xml');
}

const EXTENSIONS: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    (
      // biome-ignore format: one line
      ['pdf', 'docx', 'xlsx', 'pptx', 'odt', 'ods', 'odp', 'rtf', 'epub', 'doc', 'xls', 'ppt', 'eml', 'msg', 'csv', 'tsv'] as const
    ).map((name) => [name, TYPES[name]]),
  ),
  ...Object.fromEntries(['docm', 'dotx', 'dotm'].map((name) => [name, TYPES.docx])),
  ...Object.fromEntries(['xlsm', 'xltx', 'xltm', 'xlsb'].map((name) => [name, TYPES.xlsx])),
  ...Object.fromEntries(['pptm', 'ppsx', 'ppsm', 'potx'].map((name) => [name, TYPES.pptx])),
  ...Object.fromEntries(['fodt', 'ott'].map((name) => [name, TYPES.odt])),
  ...Object.fromEntries(['fods', 'ots'].map((name) => [name, TYPES.ods])),
  ...Object.fromEntries(['fodp', 'otp'].map((name) => [name, TYPES.odp])),
  dot: TYPES.doc,
  xlt: TYPES.xls,
  pps: TYPES.ppt,
  pot: TYPES.ppt,
  tab: TYPES.tsv,
  xml: TYPES.xml,
  rss: TYPES.rss,
  atom: TYPES.atom,
  opml: TYPES.xml,
  svg: TYPES.svg,
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
  avif: 'image/avif',
  tif: 'image/tiff',
  tiff: 'image/tiff',
  bmp: 'image/bmp',
  ico: 'image/x-icon',
};

/** The usual file extension of a type, with its dot; '' if there is none. */
export function extensionOf(mediaType: string): string {
  const found = Object.entries(EXTENSIONS).find(([, type]) => type === mediaType)?.[0];
  return found ? `.${found}` : '';
}

/** The type implied by the extension of a file name; `undefined` if the extension is not supported. */
export function typeOfFileName(name: string | undefined): string | undefined {
  const extension = /\.([a-z0-9]{1,5})$/i.exec(name ?? '')?.[1]?.toLowerCase();
  return extension === undefined ? undefined : ownValue(EXTENSIONS, extension);
}

const MAGIC: readonly (readonly [start: string, type: string])[] = [
  ['%PDF-', TYPES.pdf],
  ['PK\x03\x04', TYPES.zip],
  ['PK\x05\x06', TYPES.zip],
  ['\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1', TYPES.ole],
  ['{\\rtf', TYPES.rtf],
  // Word 2 for Windows, whose files are not OLE files.
  ['\xdb\xa5\x2d\0', TYPES.doc],
  ['\x89PNG\r\n\x1a\n', 'image/png'],
  ['\xff\xd8\xff', 'image/jpeg'],
  ['GIF87a', 'image/gif'],
  ['GIF89a', 'image/gif'],
  ['BM', 'image/bmp'],
  ['II*\0', 'image/tiff'],
  ['MM\0*', 'image/tiff'],
  ['\0\0\x01\0', 'image/x-icon'],
  ['\x1f\x8b', 'application/gzip'],
  ['7z\xbc\xaf\x27\x1c', 'application/x-7z-compressed'],
  ['Rar!\x1a\x07', 'application/vnd.rar'],
  ['BZh', 'application/x-bzip2'],
  ['\xfd7zXZ\0', 'application/x-xz'],
  ['(\xb5/\xfd', 'application/zstd'],
  ['ID3', 'audio/mpeg'],
  ['OggS\0', 'application/ogg'],
  ['fLaC', 'audio/flac'],
  ['\x1a\x45\xdf\xa3', 'video/webm'],
  ['\x7fELF', 'application/x-executable'],
  ['\0asm', 'application/wasm'],
  ['wOFF', 'font/woff'],
  ['wOF2', 'font/woff2'],
  ['SQLite format 3\0', 'application/vnd.sqlite3'],
];

/** Documents of Office in one XML file: those of Office 2003, and packages (Flat OPC). */
const OFFICE_XML: readonly (readonly [pattern: RegExp, type: string])[] = [
  [/["']http:\/\/schemas\.microsoft\.com\/office\/word\/2003\/wordml["']/, TYPES.wordXml],
  [/<(?:[\w-]+:)?Workbook\s[^>]*["']urn:schemas-microsoft-com:office:spreadsheet["']/, TYPES.excelXml],
  [/<\?mso-application\s+progid="Word\.Document"[^>]*>\s*<pkg:package\s/, TYPES.docx],
  [/<\?mso-application\s+progid="PowerPoint\.Show"[^>]*>\s*<pkg:package\s/, TYPES.pptx],
];

/** `start` has a letter for each byte. */
function typeOfXml(start: string): string | undefined {
  const text = /^(?:\xff\xfe|\xfe\xff)/.test(start) ? start.slice(2).replaceAll('\0', '') : start;
  if (!/^(?:\xef\xbb\xbf)?\s*<(?:\?xml|\?mso-application|(?:\w+:)?(?:wordDocument|Workbook))\s/.test(text))
    return undefined;
  return OFFICE_XML.find(([pattern]) => pattern.test(text))?.[1];
}

/** The type of a file by its first bytes; 4 KiB are enough. `undefined` for text and unknown types. */
export function typeOfBytes(bytes: Uint8Array): string | undefined {
  const start = Buffer.from(bytes.subarray(0, 4_096)).toString('latin1');
  const xml = typeOfXml(start);
  if (xml) return xml;
  const type = MAGIC.find(([magic]) => start.startsWith(magic))?.[1];
  // Text may begin with the same two or three letters, but it contains no control bytes.
  if (type && /^[\x20-\x7e]{2,3}$/.test(start.slice(0, 3)) && !/[\x00-\x08]/.test(start.slice(0, 64))) {
    return /^(?:%PDF-|\{\\rtf)/.test(start) ? type : undefined;
  }
  if (type === TYPES.zip) {
    const named = /mimetype(application\/[a-z.+-]+)/.exec(start)?.[1];
    return named ? canonicalType(named) : type;
  }
  if (type) return type;
  if (start.startsWith('RIFF'))
    return { WEBP: 'image/webp', WAVE: 'audio/wav', 'AVI ': 'video/x-msvideo' }[start.slice(8, 12)];
  if (start.slice(4, 8) === 'ftyp')
    return /^(?:avif|avis|heic|mif1)/.test(start.slice(8, 12)) ? 'image/avif' : 'video/mp4';
  return undefined;
}

/** PDF readers accept a header anywhere in the first 1,024 bytes (ISO 32000-1, annex H.3.4.1). */
export const hasLatePdfHeader = (bytes: Uint8Array): boolean =>
  Buffer.from(bytes.subarray(0, 1_024)).includes('%PDF-1.');
