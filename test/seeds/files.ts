/** Files for the tests of uploads. */
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { gunzipSync } from 'node:zlib';
import { PDFDocument, StandardFonts } from 'pdf-lib';

/** A PDF with the title `On kilns` and two pages, the first about clay and the second about fire. */
export async function makePdf(): Promise<Buffer> {
  const made = await PDFDocument.create();
  made.setTitle('On kilns');
  const font = await made.embedFont(StandardFonts.Helvetica);
  for (const words of ['The first page speaks of clay.', 'The second page speaks of fire.'])
    made.addPage([300, 200]).drawText(words, { x: 20, y: 150, size: 11, font });
  return Buffer.from(await made.save());
}

export interface NamedFile {
  readonly name: string;
  readonly bytes: Buffer;
  /** Words that its Markdown must contain. */
  readonly words: string;
}

const fixture = (name: string) => readFileSync(path.join(import.meta.dirname, '../fixtures/office', name));

/** DOC, XLS and PPT need LibreOffice, so they are omitted if it is not installed. */
export function officeFiles(): NamedFile[] {
  const old: NamedFile[] = [
    { name: 'letter.doc', bytes: fixture('letter.doc'), words: 'the kiln is hot' },
    { name: 'list.xls', bytes: fixture('list.xls'), words: '| Rope | 1 |' },
    { name: 'talk.ppt', bytes: gunzipSync(fixture('talk.ppt.gz')), words: 'Knots' },
  ];
  const words = { words: 'Ships are unloaded in this order' };
  return [
    ...(hasLibreOffice() ? old : []),
    { name: 'report.docx', bytes: fixture('report.docx'), ...words },
    { name: 'report.odt', bytes: fixture('report.odt'), ...words },
    { name: 'report.rtf', bytes: fixture('report.rtf'), ...words },
    { name: 'table.csv', bytes: Buffer.from('Kind,Price\nGreen,3\n'), words: '| Green | 3 |' },
  ];
}

const hasLibreOffice = () =>
  (process.env.PATH ?? '').split(path.delimiter).some((dir) => existsSync(path.join(dir, 'soffice')));
