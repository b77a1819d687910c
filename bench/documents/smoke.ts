/** A small folder of documents with known text, for checking the benchmark itself. */
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { Document, Packer, Paragraph, Table, TableCell, TableRow } from 'docx';
import { drawPdf, write } from '../../src/documents/pdf/drawn.suite.ts';

const LINES = ['Tea is at four in the garden,', 'and the boats come home at five.'];
const ROWS = [
  ['Harbour', '10'],
  ['Market', '11'],
];

/** Creates the folder and returns its path. */
export async function makeSmokeFolder(folder: string): Promise<string> {
  const pdf = drawPdf({ pages: [{ content: write(60, 760, LINES) }, { content: write(60, 760, ['The end.']) }] });
  const docx = await Packer.toBuffer(
    new Document({
      sections: [{ children: [...LINES.map((line) => new Paragraph(line)), new Table({ rows: ROWS.map(rowOf) })] }],
    }),
  );
  const files = [
    { file: 'pdf/drawn/lines.pdf', bytes: pdf, pages: [LINES.join('\n'), 'The end.'], tables: [] },
    { file: 'docx/packed/table.docx', bytes: docx, pages: [[...LINES, ...ROWS.flat()].join('\n')], tables: [ROWS] },
  ];
  for (const { file, bytes, pages, tables } of files) {
    save(path.join(folder, file), bytes);
    const truth = { text: pages.join('\n'), tables, ...(file.endsWith('.pdf') ? { pages } : {}) };
    save(path.join(folder, 'truth', `${file}.json`), JSON.stringify(truth));
  }
  save(path.join(folder, 'manifest.json'), JSON.stringify({ files: files.map(({ file }) => ({ file })) }));
  return folder;
}

const rowOf = (cells: readonly string[]): TableRow =>
  new TableRow({ children: cells.map((text) => new TableCell({ children: [new Paragraph(text)] })) });

function save(file: string, content: string | Uint8Array): void {
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, content);
}
