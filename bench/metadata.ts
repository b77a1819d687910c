/**
 * Accuracy of titles and time for metadata, compared with Mozilla's Readability:
 * `npm run bench:metadata -- <folder> [--show]`.
 *
 * The folder contains a subfolder for each set, with `gold.json` (page id to `{url, title}`) and `html/<id>.html.gz`.
 * Pages without a title in the gold data are only timed. `--show` prints the titles that differ.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { gunzipSync } from 'node:zlib';
import { Readability } from '@mozilla/readability';
import { parseHTML } from 'linkedom';
import { parseDocument } from '#html/parse.ts';
import { documentBaseUrl } from '#reader/extract/content/links.ts';
import { extractMetadata } from '#reader/extract/metadata/metadata.ts';
import { packageBaseline, report } from './report.ts';
import { machine } from './support.ts';

interface TestPage {
  id: string;
  url: string;
  html: string;
  title?: string | undefined;
}

const { values, positionals } = parseArgs({ options: { show: { type: 'boolean' } }, allowPositionals: true });
const folder = positionals[0] ?? process.env.LECTERN_BENCH_DATA;
if (!folder) throw new Error('name the folder of pages: npm run bench:metadata -- <folder> [--show]');

function pagesOf(set: string): TestPage[] {
  const gold: Record<string, { url?: string; title?: string }> = JSON.parse(
    readFileSync(path.join(set, 'gold.json'), 'utf8'),
  );
  return Object.entries(gold).flatMap(([id, { url, title }]) => {
    const file = path.join(set, 'html', `${id}.html.gz`);
    if (!existsSync(file)) return [];
    return [{ id, url: url || 'http://localhost/', title, html: gunzipSync(readFileSync(file)).toString('utf8') }];
  });
}

/** Unifies equivalent forms of white space and quotation marks. */
const settled = (title: string) =>
  title
    .normalize('NFKC')
    .replace(/[‘’‚‛`´′]/g, "'")
    .replace(/[“”„‟″«»]/g, '"')
    .replace(/\s+/g, ' ')
    .trim();

const wordsOf = (title: string) =>
  settled(title)
    .toLowerCase()
    .match(/[\p{L}\p{N}]+/gu) ?? [];

/** F1 over bags of words. */
function wordF1(given: string, gold: string): number {
  const left = new Map<string, number>();
  const want = wordsOf(gold);
  const have = wordsOf(given);
  for (const word of want) left.set(word, (left.get(word) ?? 0) + 1);
  let hits = 0;
  for (const word of have) {
    const count = left.get(word) ?? 0;
    if (count > 0) hits++;
    left.set(word, count - 1);
  }
  if (want.length + have.length === 0) return 1;
  return (2 * hits) / (want.length + have.length);
}

const readers: Record<string, (page: TestPage) => string> = {
  lectern({ html, url }) {
    const document = parseDocument(html);
    return extractMetadata(document, documentBaseUrl(document, url), url).title;
  },
  readability({ html }) {
    const { document } = parseHTML(html);
    const given = document as unknown as ConstructorParameters<typeof Readability>[0];
    return new Readability(given).parse()?.title ?? '';
  },
};

const pages = readdirSync(folder, { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && existsSync(path.join(folder, entry.name, 'gold.json')))
  .flatMap((entry) => pagesOf(path.join(folder, entry.name)));
const judged = pages.filter((page) => page.title);
const rows: (string | number)[][] = [];
for (const [name, read] of Object.entries(readers)) {
  let same = 0;
  let f1 = 0;
  for (const page of judged) {
    const title = read(page);
    const isSame = settled(title) === settled(page.title!);
    if (isSame) same++;
    else if (values.show && name === 'lectern') console.log(`${page.id}\n  gold ${page.title}\n  ours ${title}`);
    f1 += wordF1(title, page.title!);
  }
  rows.push([name, judged.length, (same / judged.length).toFixed(3), (f1 / judged.length).toFixed(3)]);
}
console.log(`${machine()}; ${pages.length} pages, ${judged.length} with a title in the gold\n`);
report('metadata.titles', ['titles', 'pages', 'same', 'word F1'], rows, {
  baselines: [packageBaseline('@mozilla/readability')],
});

/** Processor time of the metadata alone, without parsing the tree: the minimum of seven rounds over all pages. */
const cpuMs = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};
let minimumMs = Number.POSITIVE_INFINITY;
const trees = pages.map(({ html, url }) => ({ document: parseDocument(html), url }));
for (let round = 0; round < 7; round++) {
  const from = cpuMs();
  for (const { document, url } of trees) extractMetadata(document, url);
  minimumMs = Math.min(minimumMs, cpuMs() - from);
}
console.log(`\nmetadata: ${(minimumMs / trees.length).toFixed(3)} ms a page`);
