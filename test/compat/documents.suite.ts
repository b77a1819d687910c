/** Documents for the tests of the dialects that convert files. */
import { createCanvas } from '@napi-rs/canvas';
import { Document, HeadingLevel, ImageRun, Packer, Paragraph, Table, TableCell, TableRow, TextRun } from 'docx';
import { PDFDocument, StandardFonts } from 'pdf-lib';

export const DOCX_TYPE = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document';

const PAGES = [
  ['Clay', 'The first page speaks of clay and of water that makes it soft.'],
  ['Wheel', 'The second page speaks of the wheel that turns under the hands.'],
  ['Fire', 'The third page speaks of fire, which makes the clay hard again.'],
] as const;

/** Three pages with a heading and a sentence each. */
export async function kilnPdf(): Promise<Uint8Array> {
  const made = await PDFDocument.create();
  made.setTitle('On kilns');
  made.setAuthor('Ada Potter');
  const font = await made.embedFont(StandardFonts.Helvetica);
  for (const [title, text] of PAGES) {
    const page = made.addPage([595, 842]);
    page.drawText(title, { x: 50, y: 770, size: 24, font });
    page.drawText(text, { x: 50, y: 720, size: 11, font });
  }
  return made.save();
}

export function redSquare(): Uint8Array {
  const canvas = createCanvas(64, 64);
  const context = canvas.getContext('2d');
  context.fillStyle = '#c02020';
  context.fillRect(0, 0, 64, 64);
  return canvas.toBuffer('image/png');
}

const cell = (text: string) => new TableCell({ children: [new Paragraph(text)] });

/** Two sections with a list, a table and a picture. */
export async function glazeDocx(): Promise<Uint8Array> {
  const document = new Document({
    title: 'On glazes',
    creator: 'Ada Potter',
    sections: [
      {
        children: [
          new Paragraph({ heading: HeadingLevel.HEADING_1, text: 'Glazes' }),
          new Paragraph({
            children: [
              new TextRun('A glaze is a '),
              new TextRun({ text: 'thin', bold: true }),
              new TextRun(' layer of glass & <ash>.'),
            ],
          }),
          new Paragraph({ text: 'Feldspar melts first.', bullet: { level: 0 } }),
          new Paragraph({ text: 'Quartz melts last.', bullet: { level: 0 } }),
          new Paragraph({ heading: HeadingLevel.HEADING_2, text: 'Temperatures' }),
          new Table({
            rows: [
              new TableRow({ tableHeader: true, children: [cell('Glaze'), cell('Degrees')] }),
              new TableRow({ children: [cell('Ash'), cell('1260')] }),
              new TableRow({ children: [cell('Salt'), cell('1280')] }),
            ],
          }),
          new Paragraph({
            children: [
              new ImageRun({
                type: 'png',
                data: redSquare(),
                transformation: { width: 64, height: 64 },
                altText: { name: 'square', title: '', description: 'A red square' },
              }),
            ],
          }),
        ],
      },
    ],
  });
  return new Uint8Array(await Packer.toBuffer(document));
}
