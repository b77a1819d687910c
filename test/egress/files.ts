/** Input files for the product in the isolated network: one of each kind, and models. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { createCanvas, GlobalFonts } from '@napi-rs/canvas';
import { Document, Packer, Paragraph } from 'docx';
import { PDFDocument, StandardFonts } from 'pdf-lib';
import { createOfficeFolder } from '#documents/office/word/word.suite.ts';
import { smallModel, testEmbeddingRow, testRerankRow, writeTestModel } from '#models/onnx/test-model.suite.ts';
import { drawn, writePpOcr } from '#ocr/engines/pp-ocr/pp-ocr.suite.ts';
import { findProgram } from '../support/start-services.ts';

// Not every machine has fonts.
const FONTS = path.join(
  path.dirname(createRequire(import.meta.url).resolve('pdfjs-dist/package.json')),
  'standard_fonts',
);

export interface Given {
  readonly folder: string;
  /** Whether LibreOffice is installed, which is needed to create and read the file. */
  readonly hasDoc: boolean;
  readonly models: readonly object[];
  readonly ppOcrDir: string;
}

export async function makeFiles(folder: string): Promise<Given> {
  const ppOcrDir = path.join(folder, 'pp-ocr');
  mkdirSync(ppOcrDir, { recursive: true });
  const save = (name: string, bytes: Uint8Array | string) => writeFileSync(path.join(folder, name), bytes);
  save('page.pdf', await pdf());
  const docx = await Packer.toBuffer(
    new Document({ sections: [{ children: [new Paragraph('Celadon is a green glaze.')] }] }),
  );
  save('glazes.docx', docx);
  const hasDoc = findProgram('soffice') !== undefined;
  if (hasDoc) save('glazes.doc', inDoc(docx));
  save('scan.png', scan());
  save('letters.png', drawn([{ text: 'ABCACAB', left: 60, top: 60 }]));
  await writePpOcr(ppOcrDir);
  const embedder = await writeTestModel(path.join(folder, 'embedder'), smallModel().file);
  const reranker = await writeTestModel(path.join(folder, 'reranker'), smallModel({ head: 'classifier' }).file);
  const models = [
    { ...testEmbeddingRow(), hub: '', runs: { on: 'onnx', folder: embedder.folder } },
    { ...testRerankRow(), hub: '', runs: { on: 'onnx', folder: reranker.folder } },
  ];
  return { folder, hasDoc, models, ppOcrDir };
}

async function pdf(): Promise<Uint8Array> {
  const made = await PDFDocument.create();
  const font = await made.embedFont(StandardFonts.Helvetica);
  made.addPage([595, 842]).drawText('This page speaks of clay.', { x: 50, y: 720, size: 14, font });
  return made.save();
}

function inDoc(docx: Buffer): Buffer {
  const office = createOfficeFolder();
  try {
    return office.convert('glazes.docx', docx, 'doc');
  } finally {
    office.close();
  }
}

function scan(): Buffer {
  GlobalFonts.registerFromPath(path.join(FONTS, 'LiberationSans-Regular.ttf'), 'EgressSans');
  const canvas = createCanvas(900, 200);
  const context = canvas.getContext('2d');
  context.fillStyle = 'white';
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.fillStyle = 'black';
  context.font = '40px EgressSans';
  context.fillText('The kiln was opened at noon', 40, 110);
  return canvas.toBuffer('image/png');
}
