/**
 * Writes into the pages of our own making what extraction still gets wrong, as `known` of expected.json, so that the
 * tests hold all the rest: `npm run fit:known`, to be run after a fit. Prints how much that is.
 */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseDocument } from '#html/parse.ts';
import { extractArticle } from '#reader/extract/extract.ts';
import { MARKDOWN_STYLE_DEFAULTS } from '#reader/markdown/style.ts';
import { toMarkdown } from '#reader/markdown/to-markdown.ts';
import {
  type Known,
  labelledText,
  lineOf,
  OWN_PAGES,
  ownPages,
  spacedText,
  wordF1,
} from '../../test/support/own-pages.ts';

/** Pages that reach it need no floor of their own. */
const USUAL_F1 = 0.9;
const sums = { pages: 0, f1: 0, pieces: 0, wrong: 0, kinds: 0, kindsWrong: 0 };

for (const { name, html, expected } of ownPages()) {
  const { known: _, ...wanted } = expected;
  const url = wanted.url ?? 'https://clay.example/a/page';
  const document = parseDocument(html);
  const gold = wanted.content && labelledText(document, wanted);
  const article = extractArticle(document, { url, baseUrl: url, whole: false });
  const text = lineOf(article.content);
  const { markdown } = toMarkdown(article.content, {
    ...MARKDOWN_STYLE_DEFAULTS,
    pageUrl: 'https://clay.example/',
    baseUrl: 'https://clay.example/',
    gfm: 'all',
    retainLinks: 'all',
    retainImages: 'all',
    keepImgDataUrl: false,
  });
  const known: Known = {};
  const missing = wanted.keep.filter((words) => !text.includes(words));
  const extra = wanted.drop.filter((words) => text.includes(words));
  const lines = (wanted.markdown ?? []).filter((line) => !markdown.includes(line));
  if (missing.length) known.missing = missing;
  if (extra.length) known.extra = extra;
  if (lines.length) known.markdown = lines;
  if (wanted.kind !== undefined && article.kind !== wanted.kind && article.kind) known.kind = article.kind;
  if (wanted.title !== undefined && article.title !== wanted.title) known.title = article.title;
  if (gold !== undefined) {
    const f1 = wordF1(spacedText(article.content), gold);
    sums.pages += 1;
    sums.f1 += f1;
    if (f1 < USUAL_F1) known.f1 = Math.floor(f1 * 20) / 20;
  }
  sums.pieces += wanted.keep.length + wanted.drop.length;
  sums.wrong += missing.length + extra.length;
  sums.kinds += wanted.kind === undefined ? 0 : 1;
  sums.kindsWrong += known.kind === undefined ? 0 : 1;
  const rest = Object.keys(known).length ? { ...wanted, known } : wanted;
  writeFileSync(path.join(OWN_PAGES, name, 'expected.json'), `${JSON.stringify(rest, null, 2)}\n`);
}
console.log(`mean word F1 ${(sums.f1 / sums.pages).toFixed(3)} over ${sums.pages} labelled pages`);
console.log(`pieces wrong: ${sums.wrong} of ${sums.pieces}; kinds wrong: ${sums.kindsWrong} of ${sums.kinds}`);
