/** Content extraction from hostile HTML, compared with parse5, which only builds a tree: `npm run bench:hostile`. */
import { parse } from 'parse5';
import { parsePage } from '#html/parse.ts';
import { extractArticle } from '#reader/extract/extract.ts';
import { packageBaseline, report } from './report.ts';
import { machine, sized } from './support.ts';

const ROUNDS = sized(5, 1);
const SHARE = sized(1, 0.01);
const URL = 'http://localhost/';

const filled = (piece: string, bytes: number) => piece.repeat(Math.ceil(bytes / piece.length)).slice(0, bytes * SHARE);

const PAGES: Record<string, string> = {
  '500 kB of nested <div>': filled('<div>', 500_000),
  '500 kB of nested <div> with words': filled('<div>some words ', 500_000),
  '12 MB of <p>': filled('<p>', 12_000_000),
  '12 MB of <p> with two words': filled('<p>some words', 12_000_000),
  '12 MB of <p> with a sentence': filled('<p>A sentence of some words, as people write it.', 12_000_000),
};

function elapsedMs(work: () => unknown): number {
  const start = performance.now();
  work();
  return performance.now() - start;
}

const content = (html: string) =>
  extractArticle(parsePage(html).document, { url: URL, baseUrl: URL, whole: false }).content;

const rows = Object.entries(PAGES).map(([name, html]) => {
  let lecternMs = Number.POSITIVE_INFINITY;
  let parse5Ms = Number.POSITIVE_INFINITY;
  for (let round = 0; round < ROUNDS; round++) {
    lecternMs = Math.min(
      lecternMs,
      elapsedMs(() => content(html)),
    );
    parse5Ms = Math.min(
      parse5Ms,
      elapsedMs(() => parse(html, { scriptingEnabled: false })),
    );
  }
  return [name, lecternMs, parse5Ms, parse5Ms / lecternMs];
});
console.log(`milliseconds, best of ${ROUNDS}; ${machine()}\n`);
report('hostile', ['', 'lectern, to content', 'parse5, to a tree', 'times'], rows, {
  ratios: ['times'],
  baselines: [packageBaseline('parse5')],
});
