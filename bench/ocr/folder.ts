/** Pages from a folder: pictures, each with its text in a `.txt` file next to it, and PDFs with a text layer. */
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { Sample } from './pages.ts';

const PICTURES = /\.(?:png|jpe?g|webp|tiff?)$/i;
/** Usual resolutions of scanners: the normal one, and one that saves space. */
const RESOLUTIONS = [200, 150];

/**
 * `choice` is a file in which each line names a PDF of the folder and a page number. Without it, all pages of all PDFs
 * at the top level of the folder are used.
 */
export function samplesIn(folder: string, choice: string | undefined): Sample[] {
  const names = readdirSync(folder).sort();
  const chosen = choice ? choiceIn(choice) : names.filter((name) => /\.pdf$/i.test(name)).flatMap(pagesOf(folder));
  return [
    ...names.filter((name) => PICTURES.test(name)).map((name) => pictureOf(folder, name)),
    ...chosen.map(({ name, page }, at) => drawnPdf(path.join(folder, name), page, RESOLUTIONS[at % 2]!)),
  ];
}

interface Chosen {
  readonly name: string;
  readonly page: number;
}

const choiceIn = (file: string): Chosen[] =>
  readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      const [name = '', page] = line.split(' ');
      return { name, page: Number(page) };
    });

const pagesOf = (folder: string) => (name: string) => {
  const pages = /^Pages:\s+(\d+)$/m.exec(program('pdfinfo', path.join(folder, name)).toString('utf8'))?.[1];
  return Array.from({ length: Number(pages) }, (_, at): Chosen => ({ name, page: at + 1 }));
};

const pictureOf = (folder: string, name: string): Sample => ({
  name,
  kind: 'pictures',
  picture: readFileSync(path.join(folder, name)),
  text: readFileSync(path.join(folder, name.replace(PICTURES, '.txt')), 'utf8'),
  tables: [],
});

/**
 * Draws a page of a PDF. Its text is in the order of the file, because typesetting programs write text column by
 * column.
 */
function drawnPdf(file: string, page: number, dpi: number): Sample {
  const at = ['-f', String(page), '-l', String(page)];
  return {
    name: `${path.basename(file, '.pdf')} ${page}, ${dpi} dpi`,
    kind: `PDF, ${dpi} dpi`,
    picture: program('pdftoppm', ...at, '-r', String(dpi), '-gray', '-png', file),
    text: program('pdftotext', '-raw', '-nopgbrk', ...at, file, '-').toString('utf8'),
    tables: [],
  };
}

const program = (name: string, ...args: readonly string[]): Buffer =>
  execFileSync(name, args, { stdio: ['ignore', 'pipe', 'ignore'], maxBuffer: 256 * 1024 * 1024 });
