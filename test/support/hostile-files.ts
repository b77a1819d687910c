/** Small hand-made files. When they are parsed, they grow far beyond the memory limit of a document process. */
import zlib from 'node:zlib';

const MB = 1024 * 1024;
/** Size of the piece that is compressed once and then repeated, because compressing large inputs takes seconds. */
const PIECE_BYTES = 16 * MB;

/** Repeats `fill` up to this length and compresses it to about a thousandth of that. */
function packed(bytes: number, fill = ' ', ...layers: 'again'[]): Buffer {
  const out = deflate(Buffer.alloc(Math.min(bytes, PIECE_BYTES), fill), bytes);
  return layers.includes('again') ? zlib.deflateSync(out) : out;
}

/**
 * Compresses a piece and repeats the result until it decompresses to this many bytes. The uncompressed data is never in
 * memory.
 */
function deflate(piece: Buffer, bytes: number): Buffer {
  const once = zlib.deflateRawSync(piece, { finishFlush: zlib.constants.Z_FULL_FLUSH });
  const parts = Array.from({ length: Math.max(1, Math.round(bytes / piece.length)) }, () => once);
  // An empty last block. The checksum of the zlib format is wrong, but PDF readers ignore that.
  const end = Buffer.from([0x03, 0x00]);
  return Buffer.concat([Buffer.from([0x78, 0x9c]), ...parts, end, Buffer.alloc(4)]);
}

type PdfObject = string | { readonly dictionary: string; readonly stream: Buffer };

/** A PDF with these objects, numbered from 1. The first one is the catalogue. */
function pdfOf(objects: readonly PdfObject[]): Buffer {
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

/** Each file is generated when it is used. */
export const hostilePdfs: Readonly<Record<string, () => Buffer>> = {
  'contents that unpack to 1 GB': () => onePage('/Contents 4 0 R', flate(GB)),
  'contents packed twice': () =>
    onePage('/Contents 4 0 R', stream('/Filter [/FlateDecode /FlateDecode]', packed(GB, ' ', 'again'))),
  'a hundred contents of 20 MB': () => {
    const contents = Array<PdfObject>(100).fill(flate(20 * MB));
    return onePage(`/Contents [${contents.map((_, at) => `${at + 4} 0 R`).join(' ')}]`, ...contents);
  },
  'an object stream that unpacks to 1 GB': () =>
    onePage('/Contents 4 0 R', stream('/Type /ObjStm /N 1 /First 10 /Filter /FlateDecode', packed(GB, '1 0 '))),
  'a table of objects that unpacks to 1 GB': () => {
    const head = Buffer.from('%PDF-1.7\n1 0 obj\n<< /Type /Catalog /Pages 2 0 R >>\nendobj\n');
    const body = packed(GB, '\u0000');
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
  'a font that unpacks to 1 GB': () =>
    onePage(
      '/Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >>',
      hello,
      '<< /Type /Font /Subtype /TrueType /BaseFont /More /FirstChar 32 /LastChar 33 /Widths [500 500] /FontDescriptor 6 0 R >>',
      '<< /Type /FontDescriptor /FontName /More /Flags 32 /FontFile2 7 0 R /FontBBox [0 0 1000 1000] /ItalicAngle 0 /Ascent 800 /Descent 200 /CapHeight 700 /StemV 80 >>',
      flate(GB, '\u0000'),
    ),
  'metadata that unpack to 1 GB': () =>
    pdfOf([
      '<< /Type /Catalog /Pages 2 0 R /Metadata 6 0 R >>',
      PAGES,
      '<< /Type /Page /Parent 2 0 R /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>',
      hello,
      FONT,
      stream('/Type /Metadata /Subtype /XML /Filter /FlateDecode', packed(GB, '<a>')),
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
  'a tree of pages that leads back': () =>
    pdfOf([
      CATALOG,
      '<< /Type /Pages /Kids [3 0 R 2 0 R] /Count 1000000 >>',
      '<< /Type /Pages /Parent 2 0 R /Kids [2 0 R 3 0 R] /Count 500000 >>',
    ]),
  'a page of a billion points': () =>
    pdfOf([
      CATALOG,
      '<< /Type /Pages /Kids [3 0 R] /Count 1 /MediaBox [0 0 1000000000 1000000000] >>',
      '<< /Type /Page /Parent 2 0 R /Contents 4 0 R >>',
      text('0 0 1000000000 1000000000 re f'),
    ]),
  'a million annotations': () =>
    onePage(
      `/Annots [${'5 0 R '.repeat(1_000_000)}] /Contents 4 0 R`,
      hello,
      '<< /Type /Annot /Subtype /Link /Rect [0 0 9 9] /A << /S /URI /URI (https://a.example/) >> >>',
    ),
};

function piecesOf(piece: string, bytes: number): Buffer {
  const times = Math.round(bytes / Buffer.byteLength(piece));
  if (!piece.includes('#')) return Buffer.from(piece.repeat(times));
  return Buffer.from(Array.from({ length: times }, (_, at) => piece.replaceAll('#', String(at))).join(''));
}

interface Entry {
  /** With several names, one entry with the same content is created for each. */
  readonly name: string | readonly string[];
  /**
   * The text that the entry repeats until it has `bytes` bytes. Each `#` is replaced with a sequence number, so that
   * the text compresses less well.
   */
  readonly piece: string;
  readonly bytes: number;
  readonly start?: string;
  readonly end?: string;
}

/**
 * A ZIP archive (PKWARE APPNOTE 4.3) whose entries repeat a piece of text. The entries are deflated, with correct sizes
 * and checksums.
 */
function zipOf(entries: readonly Entry[]): Buffer {
  const bodies: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const { name, piece, bytes, start = '', end = '' } of entries) {
    const content = Buffer.concat([Buffer.from(start), piecesOf(piece, bytes), Buffer.from(end)]);
    const data = zlib.deflateRawSync(content, { level: 9 });
    const checksum = zlib.crc32(content);
    for (const one of [name].flat()) {
      const facts = Buffer.alloc(26);
      facts.writeUInt16LE(20, 0);
      facts.writeUInt16LE(8, 4);
      facts.writeUInt32LE(checksum, 10);
      facts.writeUInt32LE(data.length, 14);
      facts.writeUInt32LE(content.length, 18);
      facts.writeUInt16LE(one.length, 22);
      const local = Buffer.concat([Buffer.from('PK\u0003\u0004'), facts, Buffer.from(one), data]);
      const central = Buffer.concat([
        Buffer.from('PK\u0001\u0002\u0014\u0000'),
        facts,
        Buffer.alloc(14),
        Buffer.from(one),
      ]);
      central.writeUInt32LE(offset, 42);
      bodies.push(local);
      directory.push(central);
      offset += local.length;
    }
  }
  const end = Buffer.alloc(22);
  end.write('PK\u0005\u0006', 'latin1');
  end.writeUInt16LE(directory.length, 8);
  end.writeUInt16LE(directory.length, 10);
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

export const hostileFiles: Readonly<Record<string, () => Buffer>> = {
  'a docx of 40 MB of paragraphs': () => docxOf('<w:p><w:r><w:t>More and more words</w:t></w:r></w:p>', 40 * MB),
  'a docx of elements in elements': () => docxOf('<w:p w:id="#">', 4 * MB),
  'a docx of entities of entities': () =>
    docxOf(
      '<w:p><w:r><w:t>&a9;</w:t></w:r></w:p>',
      MB,
      `<!DOCTYPE w:document [<!ENTITY a0 "more">${Array.from({ length: 9 }, (_, at) => `<!ENTITY a${at + 1} "${`&a${at};`.repeat(10)}">`).join('')}]>`,
    ),
  'an xlsx of a million different cells': () =>
    sheetOf(`<row>${'<c t="n"><v>#</v></c>'.repeat(20)}</row>`, 1_000_000 * 25),
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
  'an archive of 2 GB': () =>
    zipOf([{ name: Array.from({ length: 100 }, (_, at) => `word/${at}.xml`), piece: ' ', bytes: 20 * MB }]),
  'a PNG of 30,000 by 30,000': () => png(30_000, 30_000),
  'a GIF of 60,000 by 60,000': () => gif(60_000, 60_000, 1),
  'a GIF of 100,000 frames': () => gif(4_000, 4_000, 100_000),
  'an XML of 40 MB of elements in elements': () => Buffer.from(`<?xml version="1.0"?>${'<more>'.repeat(7 * MB)}`),
  'an RTF of groups in groups': () => Buffer.from(`{\\rtf1 ${'{'.repeat(20 * MB)}`),
};
