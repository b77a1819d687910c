/** Small files that would expand beyond the memory of a machine, generated here. */
import zlib from 'node:zlib';

const MB = 1024 * 1024;

/** `bytes` copies of one byte, compressed to about a thousandth. */
export function packed(bytes: number, fill = ' ', ...layers: ('again' | 'raw')[]): Buffer {
  let out = deflate(Buffer.alloc(Math.min(bytes, 64 * MB), fill), bytes, layers.includes('raw'));
  if (layers.includes('again')) out = zlib.deflateSync(out);
  return out;
}

/** Deflates a piece repeatedly until it fills `bytes` bytes, without holding them in memory. */
function deflate(piece: Buffer, bytes: number, raw: boolean): Buffer {
  const once = zlib.deflateRawSync(piece, { finishFlush: zlib.constants.Z_FULL_FLUSH });
  const parts = Array.from({ length: Math.max(1, Math.round(bytes / piece.length)) }, () => once);
  // An empty last block. The zlib checksum is wrong, which PDF readers accept.
  const end = Buffer.from([0x03, 0x00]);
  return Buffer.concat(raw ? [...parts, end] : [Buffer.from([0x78, 0x9c]), ...parts, end, Buffer.alloc(4)]);
}

type PdfObject = string | { readonly dictionary: string; readonly stream: Buffer };

/** A PDF of these objects, numbered from 1. The first is the catalogue. */
export function pdfOf(objects: readonly PdfObject[], { xref = true } = {}): Buffer {
  const pieces: Buffer[] = [];
  let length = 0;
  const add = (text: string | Buffer) => {
    const bytes = typeof text === 'string' ? Buffer.from(text, 'latin1') : text;
    pieces.push(bytes);
    length += bytes.length;
  };
  add('%PDF-1.7\n');
  const offsets = objects.map((object, at) => {
    const offset = length;
    add(`${at + 1} 0 obj\n`);
    if (typeof object === 'string') add(object);
    else {
      add(`<< ${object.dictionary} /Length ${object.stream.length} >>\nstream\n`);
      add(object.stream);
      add('\nendstream');
    }
    add('\nendobj\n');
    return offset;
  });
  const start = length;
  if (!xref) return Buffer.concat(pieces);
  add(`xref\n0 ${objects.length + 1}\n0000000000 65535 f \n`);
  for (const offset of offsets) add(`${String(offset).padStart(10, '0')} 00000 n \n`);
  add(`trailer\n<< /Size ${objects.length + 1} /Root 1 0 R >>\nstartxref\n${start}\n%%EOF\n`);
  return Buffer.concat(pieces);
}

const CATALOG = '<< /Type /Catalog /Pages 2 0 R >>';
const PAGES = '<< /Type /Pages /Kids [3 0 R] /Count 1 /MediaBox [0 0 595 842] >>';
const FONT = '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>';
const onePage = (entries: string, ...more: PdfObject[]): Buffer =>
  pdfOf([CATALOG, PAGES, `<< /Type /Page /Parent 2 0 R ${entries} >>`, ...more]);
const stream = (dictionary: string, bytes: Buffer): PdfObject => ({ dictionary, stream: bytes });
const text = (content: string): PdfObject => stream('', Buffer.from(content, 'latin1'));
const hello = text('BT /F1 12 Tf 60 700 Td (Words that can be read) Tj ET');
const flate = (bytes: number, fill = ' ') => stream('/Filter /FlateDecode', packed(bytes, fill));

const GB = 1024 * MB;

/** Each function generates its file when it is called. */
export const hostilePdfs: Readonly<Record<string, () => Buffer>> = {
  'contents that unpack to 2 GB': () => onePage('/Contents 4 0 R', flate(2 * GB)),
  'contents of operators that unpack to 1 GB': () =>
    onePage('/Contents 4 0 R', flate(GB, 'q 1 0 0 1 0 0 cm 0 0 m 9 9 l S Q\n')),
  'contents packed twice': () =>
    onePage('/Contents 4 0 R', stream('/Filter [/FlateDecode /FlateDecode]', packed(4 * GB, ' ', 'again'))),
  'a hundred contents of 100 MB': () =>
    onePage(
      `/Contents [${Array.from({ length: 100 }, (_, at) => `${at + 4} 0 R`).join(' ')}]`,
      ...Array.from({ length: 100 }, () => flate(100 * MB)),
    ),
  'an object stream that unpacks to 2 GB': () =>
    onePage('/Contents 4 0 R', stream('/Type /ObjStm /N 1 /First 10 /Filter /FlateDecode', packed(2 * GB, '1 0 '))),
  'a table of objects that unpacks to 2 GB': () => {
    const head = Buffer.from('%PDF-1.7\n1 0 obj\n<< /Type /Catalog /Pages 2 0 R >>\nendobj\n');
    const body = packed(2 * GB, '\u0000');
    return Buffer.concat([
      head,
      Buffer.from(
        `9 0 obj\n<< /Type /XRef /Size 100000000 /W [1 8 8] /Root 1 0 R /Filter /FlateDecode /Length ${body.length} >>\nstream\n`,
      ),
      body,
      Buffer.from(`\nendstream\nendobj\nstartxref\n${head.length}\n%%EOF\n`),
    ]);
  },
  'an image of 2 GB': () =>
    onePage(
      '/Contents 4 0 R /Resources << /XObject << /I 5 0 R >> >>',
      text('q 500 0 0 500 0 0 cm /I Do Q'),
      stream(
        '/Type /XObject /Subtype /Image /Width 27000 /Height 27000 /BitsPerComponent 8 /ColorSpace /DeviceRGB /Filter /FlateDecode',
        packed(2 * GB, '\u0000'),
      ),
    ),
  'an inline image that unpacks to 1 GB': () =>
    onePage(
      '/Contents 4 0 R',
      stream(
        '',
        Buffer.concat([
          Buffer.from('q 500 0 0 500 0 0 cm BI /W 7000 /H 49000 /BPC 8 /CS /RGB /F /Fl ID '),
          packed(GB, '\u0000'),
          Buffer.from(' EI Q'),
        ]),
      ),
    ),
  'a font that unpacks to 2 GB': () =>
    onePage(
      '/Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >>',
      hello,
      '<< /Type /Font /Subtype /TrueType /BaseFont /More /FirstChar 32 /LastChar 33 /Widths [500 500] /FontDescriptor 6 0 R >>',
      '<< /Type /FontDescriptor /FontName /More /Flags 32 /FontFile2 7 0 R /FontBBox [0 0 1000 1000] /ItalicAngle 0 /Ascent 800 /Descent 200 /CapHeight 700 /StemV 80 >>',
      flate(2 * GB, '\u0000'),
    ),
  'a character map that unpacks to 1 GB': () =>
    onePage(
      '/Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >>',
      hello,
      '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /ToUnicode 6 0 R >>',
      stream(
        '/Filter /FlateDecode',
        packed(
          GB,
          '1 begincodespacerange <00> <FF> endcodespacerange\n1 beginbfrange <0000> <FFFF> <0000> endbfrange\n',
        ),
      ),
    ),
  'metadata that unpack to 2 GB': () =>
    pdfOf([
      '<< /Type /Catalog /Pages 2 0 R /Metadata 6 0 R >>',
      PAGES,
      '<< /Type /Page /Parent 2 0 R /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>',
      hello,
      FONT,
      stream('/Type /Metadata /Subtype /XML /Filter /FlateDecode', packed(2 * GB, '<a>')),
    ]),
  'a function of 400 million samples': () =>
    onePage(
      '/Contents 4 0 R /Resources << /Shading << /S 5 0 R >> >>',
      text('/S sh'),
      '<< /ShadingType 1 /ColorSpace /DeviceRGB /Function 6 0 R >>',
      stream(
        '/FunctionType 0 /Domain [0 1 0 1] /Range [0 1 0 1 0 1] /Size [20000 20000] /BitsPerSample 8 /Filter /FlateDecode',
        packed(GB, '\u0000'),
      ),
    ),
  'a tree of 300,000 pages': () => {
    const kids = Array.from({ length: 300_000 }, () => '3 0 R').join(' ');
    return pdfOf([
      CATALOG,
      `<< /Type /Pages /Kids [${kids}] /Count 300000 /MediaBox [0 0 595 842] >>`,
      '<< /Type /Page /Parent 2 0 R /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>',
      hello,
      FONT,
    ]);
  },
  'a tree of 300,000 different pages': () => {
    const count = 300_000;
    const kids = Array.from({ length: count }, (_, at) => `${at + 5} 0 R`).join(' ');
    const pages = Array.from({ length: count }, () => '<< /Type /Page /Parent 2 0 R /Contents 3 0 R >>');
    return pdfOf([
      CATALOG,
      `<< /Type /Pages /Kids [${kids}] /Count ${count} /MediaBox [0 0 595 842] /Resources << /Font << /F1 4 0 R >> >> >>`,
      hello,
      FONT,
      ...pages,
    ]);
  },
  'a tree of pages that leads back': () =>
    pdfOf([
      CATALOG,
      '<< /Type /Pages /Kids [3 0 R 2 0 R] /Count 1000000 >>',
      '<< /Type /Pages /Parent 2 0 R /Kids [2 0 R 3 0 R] /Count 500000 >>',
    ]),
  'a tree of pages 100,000 deep': () => {
    const depth = 100_000;
    const inner = Array.from({ length: depth }, (_, at) => `<< /Type /Pages /Kids [${at + 3} 0 R] /Count 1 >>`);
    return pdfOf([CATALOG, ...inner, `<< /Type /Page /MediaBox [0 0 595 842] /Contents ${depth + 3} 0 R >>`, hello]);
  },
  'a page of a billion points': () =>
    pdfOf([
      CATALOG,
      '<< /Type /Pages /Kids [3 0 R] /Count 1 /MediaBox [0 0 1000000000 1000000000] >>',
      '<< /Type /Page /Parent 2 0 R /Contents 4 0 R >>',
      text('0 0 1000000000 1000000000 re f'),
    ]),
  'a font that draws itself': () =>
    onePage(
      '/Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >>',
      text(`BT /F1 12 Tf 60 700 Td (${'a'.repeat(1000)}) Tj ET`),
      '<< /Type /Font /Subtype /Type3 /FontBBox [0 0 1000 1000] /FontMatrix [0.001 0 0 0.001 0 0] /CharProcs << /a 6 0 R >> /Encoding << /Differences [97 /a] >> /FirstChar 97 /LastChar 97 /Widths [1000] /Resources << /Font << /F1 5 0 R >> >> >>',
      text(`BT /F1 1 Tf (${'a'.repeat(1000)}) Tj ET`),
    ),
  'two thousand pages of 4 MB': () => {
    const count = 2_000;
    return pdfOf([
      CATALOG,
      `<< /Type /Pages /Kids [${'3 0 R '.repeat(count)}] /Count ${count} /MediaBox [0 0 595 842] >>`,
      '<< /Type /Page /Parent 2 0 R /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>',
      stream(
        '/Filter /FlateDecode',
        zlib.deflateSync(
          Buffer.from('BT /F1 9 Tf 60 700 Td (Words that are there again and again) Tj ET\n'.repeat(60_000)),
        ),
      ),
      FONT,
    ]);
  },
  'ten million annotations': () =>
    onePage(
      `/Annots [${'5 0 R '.repeat(1_000_000)}] /Contents 4 0 R`,
      hello,
      '<< /Type /Annot /Subtype /Link /Rect [0 0 9 9] /A << /S /URI /URI (https://a.example/) >> >>',
    ),
  'no table of objects, and a million beginnings': () =>
    Buffer.concat([
      pdfOf([CATALOG, PAGES, '<< /Type /Page /Parent 2 0 R >>'], { xref: false }),
      Buffer.from('1 0 obj <<\n'.repeat(1_000_000)),
    ]),
};

function piecesOf(piece: string, bytes: number): Buffer {
  const times = Math.round(bytes / Buffer.byteLength(piece));
  if (!piece.includes('#')) return Buffer.from(piece.repeat(times));
  return Buffer.from(Array.from({ length: times }, (_, at) => piece.replaceAll('#', String(at))).join(''));
}

interface Entry {
  readonly name: string;
  /** The repeated piece, and the total size. `#` in the piece is replaced by a counter, which compresses less well. */
  readonly piece: string;
  readonly bytes: number;
  readonly start?: string;
  readonly end?: string;
}

/** A ZIP archive whose entries repeat a piece: PKWARE APPNOTE 4.3, deflated, with correct sizes and checksums. */
export function zipOf(entries: readonly Entry[]): Buffer {
  const bodies: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const { name, piece, bytes, start = '', end = '' } of entries) {
    const content = Buffer.concat([Buffer.from(start), piecesOf(piece, bytes), Buffer.from(end)]);
    const data = zlib.deflateRawSync(content, { level: 9 });
    const facts = Buffer.alloc(26);
    facts.writeUInt16LE(20, 0);
    facts.writeUInt16LE(8, 4);
    facts.writeUInt32LE(zlib.crc32(content), 10);
    facts.writeUInt32LE(data.length, 14);
    facts.writeUInt32LE(content.length, 18);
    facts.writeUInt16LE(name.length, 22);
    const local = Buffer.concat([Buffer.from('PK\u0003\u0004'), facts, Buffer.from(name), data]);
    const central = Buffer.concat([
      Buffer.from('PK\u0001\u0002\u0014\u0000'),
      facts,
      Buffer.alloc(14),
      Buffer.from(name),
    ]);
    central.writeUInt32LE(offset, 42);
    bodies.push(local);
    directory.push(central);
    offset += local.length;
  }
  const end = Buffer.alloc(22);
  end.write('PK\u0005\u0006', 'latin1');
  end.writeUInt16LE(entries.length, 8);
  end.writeUInt16LE(entries.length, 10);
  end.writeUInt32LE(Buffer.concat(directory).length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...bodies, ...directory, end]);
}

const WORD = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"';
const TYPES_ENTRY = (part: string, type: string): Entry => ({
  name: '[Content_Types].xml',
  piece: ' ',
  bytes: 1,
  start: `<?xml version="1.0"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Override PartName="${part}" ContentType="application/vnd.openxmlformats-officedocument.${type}.main+xml"/>`,
  end: '</Types>',
});
const RELS = (target: string): Entry => ({
  name: '_rels/.rels',
  piece: ' ',
  bytes: 1,
  start: `<?xml version="1.0"?><Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="${target}"/>`,
  end: '</Relationships>',
});
const docxOf = (piece: string, bytes: number, start = '', end = ''): Buffer =>
  zipOf([
    TYPES_ENTRY('/word/document.xml', 'wordprocessingml.document'),
    RELS('word/document.xml'),
    {
      name: 'word/document.xml',
      piece,
      bytes,
      start: `<?xml version="1.0"?>${start}<w:document ${WORD}><w:body>`,
      end: `${end}</w:body></w:document>`,
    },
  ]);
const sheetOf = (piece: string, bytes: number): Buffer =>
  zipOf([
    TYPES_ENTRY('/xl/workbook.xml', 'spreadsheetml.sheet'),
    RELS('xl/workbook.xml'),
    {
      name: 'xl/workbook.xml',
      piece: ' ',
      bytes: 1,
      start:
        '<?xml version="1.0"?><workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><sheets><sheet name="More" sheetId="1" r:id="r1"/></sheets>',
      end: '</workbook>',
    },
    {
      name: 'xl/_rels/workbook.xml.rels',
      piece: ' ',
      bytes: 1,
      start:
        '<?xml version="1.0"?><Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet" Target="worksheets/sheet1.xml"/>',
      end: '</Relationships>',
    },
    {
      name: 'xl/worksheets/sheet1.xml',
      piece,
      bytes,
      start:
        '<?xml version="1.0"?><worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>',
      end: '</sheetData></worksheet>',
    },
  ]);

function png(width: number, height: number): Buffer {
  const chunk = (type: string, data: Buffer) => {
    const body = Buffer.concat([Buffer.from(type), data]);
    const sizes = Buffer.alloc(8);
    sizes.writeUInt32BE(data.length, 0);
    sizes.writeUInt32BE(zlib.crc32(body), 4);
    return Buffer.concat([sizes.subarray(0, 4), body, sizes.subarray(4)]);
  };
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([8, 2, 0, 0, 0], 8);
  const rows = packed(Math.min(width * height * 3 + height, 512 * MB), '\u0000');
  return Buffer.concat([
    Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
    chunk('IHDR', head),
    chunk('IDAT', rows),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

function gif(width: number, height: number, frames: number): Buffer {
  const head = Buffer.alloc(13);
  head.write('GIF89a');
  head.writeUInt16LE(width, 6);
  head.writeUInt16LE(height, 8);
  head[10] = 0x80;
  const frame = Buffer.alloc(10);
  frame[0] = 0x2c;
  frame.writeUInt16LE(width, 5);
  frame.writeUInt16LE(height, 7);
  const data = Buffer.concat([frame, Buffer.from([2, 2, 0x44, 0x01, 0])]);
  return Buffer.concat([
    head,
    Buffer.from([0, 0, 0, 255, 255, 255]),
    ...Array.from({ length: frames }, () => data),
    Buffer.from([0x3b]),
  ]);
}

const row = `<row>${'<c t="n"><v>7</v></c>'.repeat(20)}</row>`;

export const hostileFiles: Readonly<Record<string, () => Buffer>> = {
  'a docx of 200 MB of paragraphs': () => docxOf('<w:p><w:r><w:t>More and more words</w:t></w:r></w:p>', 200 * MB),
  'a docx of 100 MB of elements in elements': () => docxOf('<w:p>', 100 * MB),
  'a docx of 100 MB of tables': () =>
    docxOf('<w:tbl><w:tr><w:tc><w:p><w:r><w:t>x</w:t></w:r></w:p></w:tc></w:tr></w:tbl>', 100 * MB),
  'a docx of 100 MB of different paragraphs': () =>
    docxOf('<w:p><w:r><w:t>More words, by # ways</w:t></w:r></w:p>', 100 * MB),
  'a docx of 30 MB of different paragraphs': () =>
    docxOf('<w:p><w:r><w:t>More words, by # ways</w:t></w:r></w:p>', 30 * MB),
  'a docx of elements in elements': () => docxOf('<w:p w:id="#">', 30 * MB),
  'a docx of entities of entities': () =>
    docxOf(
      '<w:p><w:r><w:t>&a9;</w:t></w:r></w:p>',
      MB,
      `<!DOCTYPE w:document [<!ENTITY a0 "more">${Array.from({ length: 9 }, (_, at) => `<!ENTITY a${at + 1} "${`&a${at};`.repeat(10)}">`).join('')}]>`,
    ),
  'an xlsx of 5 million cells': () => sheetOf(row, 5_000_000 * (row.length / 20)),
  'an xlsx of 4 million different cells': () =>
    sheetOf(`<row>${'<c t="n"><v>#</v></c>'.repeat(20)}</row>`, 4_000_000 * 25),
  'an xlsx of 400,000 different cells': () => sheetOf(`<row>${'<c t="n"><v>#</v></c>'.repeat(20)}</row>`, 400_000 * 25),
  'an xlsx of a million rows far apart': () =>
    sheetOf('<row r="1048576"><c r="XFD1048576"><v>7</v></c></row>', 40 * MB),
  'an epub of a thousand long chapters': () =>
    zipOf([
      { name: 'mimetype', piece: ' ', bytes: 0, start: 'application/epub+zip' },
      {
        name: 'META-INF/container.xml',
        piece: ' ',
        bytes: 1,
        start:
          '<?xml version="1.0"?><container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles><rootfile full-path="book.opf" media-type="application/oebps-package+xml"/></rootfiles>',
        end: '</container>',
      },
      {
        name: 'book.opf',
        piece: ' ',
        bytes: 1,
        start: `<?xml version="1.0"?><package xmlns="http://www.idpf.org/2007/opf" version="3.0"><metadata/><manifest><item id="c" href="c.xhtml" media-type="application/xhtml+xml"/></manifest><spine>${'<itemref idref="c"/>'.repeat(1000)}</spine>`,
        end: '</package>',
      },
      {
        name: 'c.xhtml',
        piece: '<p>More and more words.</p>',
        bytes: 30 * MB,
        start: '<html xmlns="http://www.w3.org/1999/xhtml"><body>',
        end: '</body></html>',
      },
    ]),
  'an odt of 200 MB of paragraphs': () =>
    zipOf([
      { name: 'mimetype', piece: ' ', bytes: 0, start: 'application/vnd.oasis.opendocument.text' },
      {
        name: 'content.xml',
        piece: '<text:p>More and more words</text:p>',
        bytes: 200 * MB,
        start:
          '<?xml version="1.0"?><office:document-content xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"><office:body><office:text>',
        end: '</office:text></office:body></office:document-content>',
      },
    ]),
  'an epub of a long chapter, again and again': () =>
    zipOf([
      { name: 'mimetype', piece: ' ', bytes: 0, start: 'application/epub+zip' },
      {
        name: 'META-INF/container.xml',
        piece: ' ',
        bytes: 1,
        start:
          '<?xml version="1.0"?><container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles><rootfile full-path="book.opf" media-type="application/oebps-package+xml"/></rootfiles>',
        end: '</container>',
      },
      {
        name: 'book.opf',
        piece: ' ',
        bytes: 1,
        start: `<?xml version="1.0"?><package xmlns="http://www.idpf.org/2007/opf" version="3.0"><metadata/><manifest><item id="c" href="c.xhtml" media-type="application/xhtml+xml"/></manifest><spine>${'<itemref idref="c"/>'.repeat(1000)}</spine>`,
        end: '</package>',
      },
      {
        name: 'c.xhtml',
        piece: '<p>More and more words, # times.</p>',
        bytes: 20 * MB,
        start: '<html xmlns="http://www.w3.org/1999/xhtml"><body>',
        end: '</body></html>',
      },
    ]),
  'an archive of 20 GB': () =>
    zipOf(Array.from({ length: 10 }, (_, at) => ({ name: `word/${at}.xml`, piece: ' ', bytes: 200 * MB }))),
  'a PNG of 30,000 by 30,000': () => png(30_000, 30_000),
  'a PNG of 9,000 by 9,000': () => png(9_000, 9_000),
  'a GIF of 60,000 by 60,000': () => gif(60_000, 60_000, 1),
  'a GIF of 100,000 frames': () => gif(4_000, 4_000, 100_000),
  'an SVG of pictures in pictures': () =>
    Buffer.from(
      `<svg xmlns="http://www.w3.org/2000/svg" width="30000" height="30000"><g id="a0"><text>more</text></g>${Array.from({ length: 9 }, (_, at) => `<g id="a${at + 1}">${`<use href="#a${at}"/>`.repeat(10)}</g>`).join('')}</svg>`,
    ),
  'an XML of 60 MB of elements': () =>
    Buffer.from(`<?xml version="1.0"?><all>${'<more a="b">x</more>'.repeat(3 * MB)}</all>`),
  'an XML of 60 MB of elements in elements': () => Buffer.from(`<?xml version="1.0"?>${'<more>'.repeat(10 * MB)}`),
  'a feed of a million entries': () =>
    Buffer.from(
      `<?xml version="1.0"?><rss version="2.0"><channel><title>More</title>${'<item><title>More</title></item>'.repeat(MB)}</channel></rss>`,
    ),
  'an RTF of groups in groups': () => Buffer.from(`{\\rtf1 ${'{'.repeat(20 * MB)}`),
  'an RTF of 60 MB': () => Buffer.from(`{\\rtf1 ${'{\\b more}\\par '.repeat(4 * MB)}}`),
};
