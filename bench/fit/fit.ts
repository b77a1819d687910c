/**
 * Fits the trees that choose content and those that tell what kind of page it is:
 * `npm run fit:extraction -- <folder> --scorer <module> [--check]` writes weights.ts and kind-weights.ts of
 * src/reader/extract. With `--check` nothing is written: the sites are cut into five parts, each part is extracted with
 * trees fitted to the other four, and the score of all is what pages never seen would get. `--cut <word>` cuts the sites
 * in another way.
 *
 * The folder's pages are joined by those of test/fixtures/pages. The scorer is the module that bench/extraction.ts
 * takes; it also exports `stripMarkdown`.
 */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { FITTED_KINDS } from '#reader/extract/page-features.ts';
import { loadScorer } from '../scorer.ts';
import { crossValidate } from './check.ts';
import { type FittedTexts, fitAll } from './fit-all.ts';
import { sumsAsText } from './own-answers.ts';
import { readSamples } from './samples.ts';

const { values: flags, positionals } = parseArgs({
  options: { scorer: { type: 'string' }, check: { type: 'boolean' }, cut: { type: 'string' } },
  allowPositionals: true,
});

const HEAD = '/** Fitted by bench/fit/fit.ts; trees.ts says how to read it. Not written by hand. */\n';

function write({ blocks, kinds }: FittedTexts): void {
  const folder = path.resolve(import.meta.dirname, '../../src/reader/extract');
  writeFileSync(path.join(folder, 'weights.ts'), `${HEAD}export const WEIGHTS = \`\n${blocks}\n\`;\n`);
  const rows = FITTED_KINDS.map((kind, at) => `  ${kind}: \`\n${kinds[at]}\n\`,\n`).join('');
  const type = "import type { FITTED_KINDS } from './page-features.ts';\n\n";
  const open = 'export const KIND_WEIGHTS: Record<(typeof FITTED_KINDS)[number], string> = {\n';
  writeFileSync(path.join(folder, 'kind-weights.ts'), `${HEAD}${type}${open}${rows}};\n`);
}

const folder = positionals[0];
if (!folder || !flags.scorer) throw new Error('give the folder of pages, and the scoring module with --scorer');
const scorer = await loadScorer(flags.scorer);
const samples = await readSamples(folder, scorer, { cut: flags.cut });
if (flags.check) {
  const { rows, kinds, own } = crossValidate(samples, scorer);
  console.log(scorer.table(scorer.report(rows)));
  console.log(`kinds right: ${kinds.right} of ${kinds.known} annotated pages\nour own pages: ${sumsAsText(own)}`);
} else write(fitAll(samples));
