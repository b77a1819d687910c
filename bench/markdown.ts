/**
 * How much structure survives the conversion from HTML to Markdown and back, compared with Turndown:
 * `npm run bench:markdown -- [<folder of pages>] [--failures] [--page <id>]`.
 *
 * - With a folder that contains `mozr/gold.json` (`{id: {url, fragment}}`): compares the structure of each fragment
 *   with that of its Markdown, which micromark parses with the GitHub flavor. Prints the F1 over the facts of all
 *   pages, one row per kind (defined in markdown-structure.ts).
 * - The examples of the CommonMark specification: converts the HTML of each example to Markdown, and converts that to
 *   HTML with the reference implementation. The canonical forms must be equal (round-trip.suite.ts). Examples with raw
 *   HTML have a separate row, because they need HTML inside the Markdown, which neither converter is meant to write.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { serialize } from 'parse5';
import {
  canonicalHtml,
  commonmarkToHtml,
  gfmToHtml,
  htmlToMarkdown,
  specExamples,
} from '#reader/markdown/round-trip.suite.ts';
import { KINDS, type Kind, shared, structureOf, withoutForeign } from './markdown-structure.ts';
import { packageBaseline, report } from './report.ts';

type Convert = (html: string, base?: string) => string;

interface Turndown {
  turndown(html: string): string;
  use(plugin: unknown): Turndown;
}

// Both packages ship without types.
const load = createRequire(import.meta.url);
const TurndownService = load('turndown') as new (options: Record<string, string>) => Turndown;
const { gfm } = load('@joplin/turndown-plugin-gfm') as { gfm: unknown };
const turndown = new TurndownService({ headingStyle: 'atx', codeBlockStyle: 'fenced' });
const turndownGfm = new TurndownService({ headingStyle: 'atx', codeBlockStyle: 'fenced' }).use(gfm);

const ours: Convert = (html, base) => htmlToMarkdown(html, base ? { pageUrl: base, baseUrl: base } : {});

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { failures: { type: 'boolean' }, page: { type: 'string' } },
});

interface Fragment {
  url: string;
  fragment: string;
}

function pagesTable(folder: string): void {
  const gold = JSON.parse(readFileSync(path.join(folder, 'mozr/gold.json'), 'utf8')) as Record<string, Fragment>;
  const pages = Object.entries(gold).filter(([id]) => !values.page || id === values.page);
  const contenders: [string, Convert][] = [
    ['lectern', ours],
    ['turndown + gfm', (html) => turndownGfm.turndown(html)],
  ];
  const counts = contenders.map(() => new Map(KINDS.map((kind) => [kind, { wanted: 0, given: 0, shared: 0 }])));
  let left = 0;
  for (const [id, { url, fragment }] of pages) {
    const source = withoutForeign(fragment);
    left += source.left;
    const html = serialize(source.tree);
    const wanted = structureOf(source.tree, url);
    for (const [index, [name, convert]] of contenders.entries()) {
      const given = structureOf(withoutForeign(gfmToHtml(convert(html, url))).tree, url);
      for (const kind of KINDS) {
        const count = counts[index]!.get(kind)!;
        count.wanted += wanted[kind].length;
        count.given += given[kind].length;
        count.shared += shared(wanted[kind], given[kind]);
        if (values.failures && name === 'lectern') showDifference(id, kind, wanted[kind], given[kind]);
      }
    }
  }
  const rows: string[][] = KINDS.map((kind) => [
    kind,
    String(counts[0]!.get(kind)!.wanted),
    ...counts.map((count) => f1(count.get(kind)!).toFixed(4)),
  ]);
  const mean = (count: (typeof counts)[number]) =>
    KINDS.reduce((sum, kind) => sum + f1(count.get(kind)!), 0) / KINDS.length;
  rows.push(['mean', '', ...counts.map((count) => mean(count).toFixed(4))]);
  console.log(`${pages.length} fragments, ${left} elements without a counterpart left out\n`);
  report('markdown.facts', ['kind', 'facts', ...contenders.map(([name]) => name)], rows, {
    baselines: [packageBaseline('turndown')],
  });
}

const f1 = ({ wanted, given, shared }: { wanted: number; given: number; shared: number }): number =>
  wanted + given === 0 ? 1 : (2 * shared) / (wanted + given);

function showDifference(id: string, kind: Kind, wanted: readonly string[], given: readonly string[]): void {
  const without = (facts: readonly string[], others: readonly string[]) => {
    const rest = [...others];
    return facts.filter((fact) => {
      const at = rest.indexOf(fact);
      if (at >= 0) rest.splice(at, 1);
      return at < 0;
    });
  };
  for (const fact of without(wanted, given)) console.log(`- ${id} ${kind}: ${fact}`);
  for (const fact of without(given, wanted)) console.log(`+ ${id} ${kind}: ${fact}`);
}

function specTable(): void {
  const examples = specExamples();
  const plain = examples.filter(({ raw }) => !raw);
  const contenders: [string, Convert][] = [
    ['lectern', ours],
    ['turndown', (html) => turndown.turndown(html)],
  ];
  const rows = contenders.map(([name, convert]) => {
    const same = ({ html }: { html: string }) => canonicalHtml(html) === canonicalHtml(commonmarkToHtml(convert(html)));
    const kept = plain.filter(same);
    const all = examples.filter(same);
    if (values.failures) {
      const failed = plain.filter((example) => !kept.includes(example)).map(({ number }) => number);
      console.log(`${name} changes ${failed.join(' ')}`);
    }
    const share = (count: number, of: number) => `${(count / of).toFixed(4)} (${count} of ${of})`;
    return [name, share(kept.length, plain.length), share(all.length - kept.length, examples.length - plain.length)];
  });
  report('markdown.examples', ['examples unchanged', 'without raw HTML', 'with raw HTML'], rows, {
    baselines: [packageBaseline('turndown')],
  });
}

if (positionals[0]) pagesTable(positionals[0]);
console.log('');
specTable();
