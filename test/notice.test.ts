/** NOTICE names everything that users get: installed packages, and those in the built files. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { bundledPackages } from '../scripts/bundle.mjs';
import { noticeLines, withNoticeLines } from '../scripts/notice.mjs';
import { programFile } from './support/program.ts';

const ROOT = path.resolve(import.meta.dirname, '..');
const read = (name: string) => readFileSync(path.join(ROOT, name), 'utf8');
const notice = read('NOTICE');
const lines = noticeLines(JSON.parse(read('package-lock.json')), await bundledPackages());

it('lists the installed packages', () => {
  expect(lines.length).toBeGreaterThan(100);
  // `node scripts/notice.mjs` writes the list.
  expect(withNoticeLines(notice, lines)).toBe(notice);
});

it('lists only packages with a license that permits this use', () => {
  // libvips is linked dynamically, and its packages can be replaced.
  const others = lines.filter((line) => !/@img\/sharp-/.test(line));
  expect(
    others.filter(
      (line) => !/, \(?(?:MIT|MIT-0|ISC|Apache-2\.0|BSD-[23]-Clause|0BSD|BlueOak-1\.0\.0|MPL-2\.0)\b/.test(line),
    ),
  ).toEqual([]);
});

it('lists the packages that are bundled, whose texts come along', { timeout: 120_000 }, async () => {
  const texts = readFileSync(path.join(path.dirname(await programFile()), 'licences.txt'), 'utf8');
  const bundled = [...texts.matchAll(/(?:^|-{80}\n\n)(@?[\w./-]+) \d[\w.-]* \([^\n]*\)\n/g)].map(([, name]) => name!);
  expect(bundled.length).toBeGreaterThan(50);
  expect(bundled.filter((name) => !lines.some((line) => line.startsWith(`- ${name}, `)))).toEqual([]);
});
