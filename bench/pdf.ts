/**
 * Text extraction from the pages of PDFs, compared with the text of PDF.js and of `pdftotext`, on one core:
 * `npm run bench:pdf -- [folder]`. The files come from a folder, or are printed by a browser and, if installed,
 * LibreOffice. The time of `pdftotext` includes its startup time, which is also shown separately.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { loadPdfJs, openPdf } from '#documents/pdf/open.ts';
import { kind } from '#documents/pdf/pdf.ts';
import { printByOffice, startPrinter } from '../src/documents/pdf/printed.suite.ts';
import { packageBaseline, programBaseline, report } from './report.ts';
import { machine, SMOKE, sized } from './support.ts';

const ROUNDS = sized(5, 1);

interface Sample {
  readonly name: string;
  readonly bytes: Uint8Array;
  readonly pages: number;
}

const WORDS = 'the pot of tea stands on a table and steam goes up past a window where it is raining again'.split(' ');
const sentence = (seed: number) =>
  `${Array.from({ length: 16 }, (_, at) => WORDS[(seed * 7 + at * 3) % WORDS.length]).join(' ')}.`;
const paragraph = (seed: number) => `<p>${[0, 1, 2, 3, 4].map((at) => sentence(seed * 5 + at)).join(' ')}</p>`;
const text = (count: number, seed: number) => Array.from({ length: count }, (_, at) => paragraph(seed + at)).join('');
const rows = (count: number) =>
  Array.from(
    { length: count },
    (_, at) => `<tr><td>Row ${at}</td><td>${at * 37}</td><td>${sentence(at)}</td></tr>`,
  ).join('');
const items = (count: number) =>
  Array.from({ length: count }, (_, at) => `<li>${sentence(at)}<ul><li>Inner ${at}</li></ul></li>`).join('');

const STYLE =
  '<style>body{font:10.5pt serif}.two{columns:2}table{border-collapse:collapse}td,th{border:1px solid;padding:2px 5px}</style>';
const SOURCES: Readonly<Record<string, string>> = {
  'one column': `${STYLE}<h1>Tea</h1>${Array.from({ length: 20 }, (_, at) => `<h2>Part ${at}</h2>${text(9, at * 10)}`).join('')}`,
  'two columns': `${STYLE}<h1>Tea</h1><div class="two">${Array.from({ length: 20 }, (_, at) => `<h2>Part ${at}</h2>${text(9, at * 10)}`).join('')}</div>`,
  tables: `${STYLE}<h1>Tea</h1>${Array.from({ length: 12 }, () => `<table><tr><th>Name</th><th>Count</th><th>Words</th></tr>${rows(40)}</table><p>${sentence(1)}</p>`).join('')}`,
  lists: `${STYLE}<h1>Tea</h1><ul>${items(300)}</ul>`,
};

async function samples(folder: string | undefined): Promise<Sample[]> {
  const found: [string, Uint8Array][] = [];
  if (folder) {
    for (const name of readdirSync(folder).filter((entry) => /\.pdf$/i.test(entry))) {
      found.push([name, new Uint8Array(readFileSync(path.join(folder, name)))]);
    }
  } else {
    const printer = await startPrinter();
    for (const [name, html] of Object.entries(SOURCES).slice(0, sized(undefined, 1)))
      found.push([`browser, ${name}`, await printer.print(html)]);
    await printer.close();
    if (!SMOKE) {
      try {
        const files = Object.entries(SOURCES).map(([name, html]) => [`${name}.html`, html]);
        const printed = printByOffice(Object.fromEntries(files), 'writer_web_pdf_Export');
        Object.keys(SOURCES).forEach((name, at) => {
          found.push([`LibreOffice, ${name}`, printed[at]!]);
        });
      } catch {
        console.log('LibreOffice is not installed: only files printed by the browser are measured\n');
      }
    }
  }
  return Promise.all(
    found.map(async ([name, bytes]) => {
      const { document, close } = await openPdf(bytes, { maxImagePixels: 1 });
      const pages = document.numPages;
      await close();
      return { name, bytes, pages };
    }),
  );
}

const lectern = async ({ bytes, name }: Sample) => {
  await kind.parse({ path: name, size: bytes.length, mediaType: 'application/pdf' }, bytes, {});
};

const pdfjs = async ({ bytes }: Sample) => {
  const { document, close } = await openPdf(bytes, { maxImagePixels: 1 });
  for (let number = 1; number <= document.numPages; number++) {
    const page = await document.getPage(number);
    await page.getTextContent();
    page.cleanup();
  }
  await close();
};

const best = async (rounds: number, run: () => Promise<void> | void): Promise<number> => {
  let minimumMs = Number.POSITIVE_INFINITY;
  for (let round = 0; round < rounds; round++) {
    const before = performance.now();
    await run();
    minimumMs = Math.min(minimumMs, performance.now() - before);
  }
  return minimumMs;
};

const all = await samples(process.argv[2]);
await loadPdfJs();
const temporary = mkdtempSync(path.join(os.tmpdir(), 'lectern-bench-pdf-'));
const lines: (string | number)[][] = [];
const sums = { pages: 0, lectern: 0, pdfjs: 0, pdftotext: 0 };
for (const [at, sample] of all.entries()) {
  const file = path.join(temporary, `${at}.pdf`);
  writeFileSync(file, sample.bytes);
  const ms = {
    lectern: await best(ROUNDS, () => lectern(sample)),
    pdfjs: await best(ROUNDS, () => pdfjs(sample)),
    pdftotext: await best(ROUNDS, () => void execFileSync('pdftotext', [file, '-'], { maxBuffer: 1 << 28 })),
  };
  sums.pages += sample.pages;
  sums.lectern += ms.lectern;
  sums.pdfjs += ms.pdfjs;
  sums.pdftotext += ms.pdftotext;
  const rate = (time: number) => sample.pages / (time / 1000);
  lines.push([sample.name, sample.pages, rate(ms.lectern), rate(ms.pdfjs), rate(ms.pdftotext), ms.pdfjs / ms.lectern]);
}
rmSync(temporary, { recursive: true, force: true });
const rate = (time: number) => sums.pages / (time / 1000);
lines.push(['all', sums.pages, rate(sums.lectern), rate(sums.pdfjs), rate(sums.pdftotext), sums.pdfjs / sums.lectern]);

console.log(`pages/s, best of ${ROUNDS} rounds; ${machine()}\n`);
report('pdf', ['', 'pages', 'lectern', 'pdf.js text', 'pdftotext', 'lectern : pdf.js'], lines, {
  ratios: ['lectern : pdf.js'],
  baselines: [packageBaseline('pdfjs-dist'), programBaseline('pdftotext', 'pdftotext', '-v')],
});
