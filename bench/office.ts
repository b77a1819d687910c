/**
 * Office files to HTML, compared with LibreOffice: `tsx --conditions=source bench/office.ts`. LibreOffice must be
 * installed, because it also creates the files from the sources below. It is measured with one process per file, as a
 * server would run it, and with one process for ten files, which share its startup time.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { DocumentKind } from '#documents/document.ts';
import { kind as rtf } from '#documents/office/rtf/rtf.ts';
import { kind as ods } from '#documents/office/sheet/ods.ts';
import { kind as xlsx } from '#documents/office/sheet/xlsx.ts';
import { kind as odp } from '#documents/office/slides/odp.ts';
import { kind as pptx } from '#documents/office/slides/pptx.ts';
import { kind as docx } from '#documents/office/word/docx.ts';
import { kind as odt } from '#documents/office/word/odt.ts';
import { programBaseline, report } from './report.ts';
import { machine, sized } from './support.ts';

const WORDS = 'the pot of tea stands on the table and the steam goes up past the window where it is raining'.split(' ');
const sentence = (seed: number) =>
  `${Array.from({ length: 18 }, (_, at) => WORDS[(seed * 7 + at * 3) % WORDS.length]).join(' ')}.`;
const times = <T>(count: number, write: (at: number) => T): T[] => Array.from({ length: count }, (_, at) => write(at));

const TEXT = `<html><head><title>Tea and rain</title></head><body>${times(
  30,
  (part) =>
    `<h2>Part ${part}</h2>${times(5, (n) => `<p>${times(4, (k) => sentence(part * 20 + n * 4 + k)).join(' ')} <b>Bold</b> and <a href="https://example.com/${n}">a link</a>.</p>`).join('')}<ul>${times(4, (n) => `<li>${sentence(n)}</li>`).join('')}</ul><table border="1"><tr><th>Name</th><th>Count</th></tr>${times(6, (n) => `<tr><td>Row ${n}</td><td>${n * part}</td></tr>`).join('')}</table>`,
).join('')}</body></html>`;

const SHEET = times(2_000, (row) => times(10, (column) => (column === 0 ? `Row ${row}` : row * column)).join(',')).join(
  '\n',
);

const SLIDES = `<?xml version="1.0" encoding="UTF-8"?><office:document xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" xmlns:draw="urn:oasis:names:tc:opendocument:xmlns:drawing:1.0" xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0" xmlns:presentation="urn:oasis:names:tc:opendocument:xmlns:presentation:1.0" xmlns:svg="urn:oasis:names:tc:opendocument:xmlns:svg-compatible:1.0" office:version="1.3" office:mimetype="application/vnd.oasis.opendocument.presentation"><office:body><office:presentation>${times(
  30,
  (slide) =>
    `<draw:page draw:name="Slide ${slide}"><draw:frame presentation:class="title" svg:x="1cm" svg:y="1cm" svg:width="20cm" svg:height="2cm"><draw:text-box><text:p>Slide ${slide}</text:p></draw:text-box></draw:frame><draw:frame presentation:class="outline" svg:x="1cm" svg:y="4cm" svg:width="20cm" svg:height="10cm"><draw:text-box>${times(6, (n) => `<text:p>${sentence(slide * 6 + n)}</text:p>`).join('')}</draw:text-box></draw:frame></draw:page>`,
).join('')}</office:presentation></office:body></office:document>`;

interface Case {
  readonly format: string;
  readonly kind: DocumentKind;
  readonly source: readonly [name: string, content: string];
  /** LibreOffice's import filter, if it cannot be inferred from the file name. */
  readonly filter?: string;
}

const HTML_FILTER = 'HTML (StarWriter)';
const cases: readonly Case[] = [
  { format: 'docx', kind: docx, source: ['text.html', TEXT], filter: HTML_FILTER },
  { format: 'odt', kind: odt, source: ['text.html', TEXT], filter: HTML_FILTER },
  { format: 'rtf', kind: rtf, source: ['text.html', TEXT], filter: HTML_FILTER },
  { format: 'xlsx', kind: xlsx, source: ['sheet.csv', SHEET] },
  { format: 'ods', kind: ods, source: ['sheet.csv', SHEET] },
  { format: 'pptx', kind: pptx, source: ['slides.fodp', SLIDES] },
  { format: 'odp', kind: odp, source: ['slides.fodp', SLIDES] },
];

const WARM_UP = sized(20, 0);
const ROUNDS = sized(15, 1);
const TOGETHER = sized(10, 2);
const OFFICE_ROUNDS = sized(3, 1);

const folder = mkdtempSync(path.join(os.tmpdir(), 'lectern-bench-office-'));
const soffice = (...more: readonly string[]) =>
  execFileSync('soffice', ['--headless', `-env:UserInstallation=file://${folder}/profile`, ...more], {
    stdio: 'ignore',
    timeout: 120_000,
  });

function make({ format, source: [name, content], filter }: Case): Buffer {
  writeFileSync(path.join(folder, name), content);
  const how = filter === undefined ? [] : [`--infilter=${filter}`];
  soffice(...how, '--convert-to', format, '--outdir', folder, path.join(folder, name));
  return readFileSync(path.join(folder, `${path.parse(name).name}.${format}`));
}

const median = (values: readonly number[]): number => values.toSorted((one, other) => one - other)[values.length >> 1]!;

async function ownMs(kind: DocumentKind, bytes: Uint8Array): Promise<number> {
  const taken: number[] = [];
  for (let round = -WARM_UP; round < ROUNDS; round++) {
    const before = performance.now();
    await kind.parse({ path: '', size: bytes.length, mediaType: '' }, bytes, {});
    if (round >= 0) taken.push(performance.now() - before);
  }
  return median(taken);
}

function officeMs(bytes: Uint8Array, format: string, count: number): number {
  const names = times(count, (at) => path.join(folder, `copy-${at}.${format}`));
  for (const name of names) writeFileSync(name, bytes);
  const taken = times(OFFICE_ROUNDS, () => {
    const before = performance.now();
    soffice('--convert-to', 'html', '--outdir', folder, ...names);
    return performance.now() - before;
  });
  return median(taken) / count;
}

try {
  const rows: (string | number)[][] = [];
  for (const item of cases.slice(0, sized(undefined, 1))) {
    const bytes = make(item);
    const own = await ownMs(item.kind, bytes);
    const alone = officeMs(bytes, item.format, 1);
    const together = officeMs(bytes, item.format, TOGETHER);
    rows.push([
      item.format,
      bytes.length / 1024,
      own,
      1000 / own,
      1000 / alone,
      1000 / together,
      `${(alone / own).toFixed(0)} / ${(together / own).toFixed(0)}`,
    ]);
  }
  console.log(
    `documents/s; medians of ${ROUNDS} rounds in one warm process (LibreOffice: ${OFFICE_ROUNDS}, with its start-up); ${machine()}\n`,
  );
  report(
    'office',
    ['', 'kB', 'lectern ms', 'lectern', 'LibreOffice', `LibreOffice, ${TOGETHER} at once`, 'times as fast'],
    rows,
    { ratios: ['times as fast'], baselines: [programBaseline('LibreOffice', 'soffice', '--version')] },
  );
} finally {
  rmSync(folder, { recursive: true, force: true });
}
