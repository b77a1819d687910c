/**
 * Numbers and characters that text recognition gets right, by kind of page, compared with the plain Tesseract program in
 * its page segmentation modes 3 and 6: `tsx --conditions=source bench/ocr-numbers.ts [pages of each kind]`.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { createOcr } from '#ocr/index.ts';
import { MISSING_FONTS } from './ocr/foreign.ts';
import { type KindPage, kindPages } from './ocr/kinds.ts';
import { errorRate, numbersRight } from './ocr/score.ts';
import { programBaseline, report } from './report.ts';
import { machine, sized } from './support.ts';

const pages = (await kindPages(Number(process.argv[2] ?? sized(4, 1)))).slice(0, sized(undefined, 1));
const work = mkdtempSync(path.join(os.tmpdir(), 'lectern-bench-'));
const ocr = createOcr({ languages: [], temporaryDir: work, timeoutMs: 600_000 })!;
const { signal } = new AbortController();

function plain(picture: Uint8Array, psm: string): string {
  const file = path.join(work, 'page');
  writeFileSync(file, picture);
  const env = { ...process.env, OMP_THREAD_LIMIT: '1' };
  return execFileSync('tesseract', [file, 'stdout', '--psm', psm], {
    env,
    stdio: ['ignore', 'pipe', 'ignore'],
  }).toString();
}

const dense = (text: string): string[] => [...text.normalize('NFKC').replace(/\s+/g, ' ').trim()];
const readings: { page: KindPage; texts: string[] }[] = [];
for (const page of pages) {
  const { text } = await ocr.read(page.picture, { signal });
  readings.push({ page, texts: [text, plain(page.picture, '3'), plain(page.picture, '6')] });
}
await ocr.close();
rmSync(work, { recursive: true, force: true });

const rows = [...new Set(pages.map(({ kind }) => kind))].map((kind) => {
  const own = readings.filter(({ page }) => page.kind === kind);
  const numbers = [0, 1, 2].map((at) => {
    const counts = own.map(({ page, texts }) => numbersRight(page.text, texts[at]!));
    const sum = (of: 'right' | 'all') => counts.reduce((total, count) => total + count[of], 0);
    return `${sum('right')} of ${sum('all')}`;
  });
  const errors = [0, 1, 2].map((at) => {
    const shares = own.map(({ page, texts }) => errorRate(dense(page.text), dense(texts[at]!)));
    return ((100 * shares.reduce((sum, share) => sum + share, 0)) / shares.length).toFixed(2);
  });
  return [kind, ...numbers, ...errors];
});
console.log(machine());
if (MISSING_FONTS.length > 0)
  console.log(`Not drawn, because these fonts are not installed: ${MISSING_FONTS.join(', ')}`);
report('ocr-numbers', ['', 'numbers', 'psm 3', 'psm 6', 'char. errors %', 'psm 3', 'psm 6'], rows, {
  baselines: [programBaseline('Tesseract', 'tesseract', '--version')],
});
