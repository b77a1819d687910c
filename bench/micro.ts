/**
 * Lectern, Readability and Defuddle on the micro-pages: how many pages keep all wanted text, leave out all furniture, and
 * give the same text at each of eight URLs: `npm run bench:micro -- [--family <name>] [--limit <pages>]`.
 *
 * `--limit` reads that many pages of each family. `--page <part of its name>` prints the HTML of each such page, and the
 * answer of Lectern with its faults, instead of the tables.
 */
import { parseArgs } from 'node:util';
import { faultsAtUrls } from '../test/support/micro-pages/answers.ts';
import { MICRO_PAGE_URLS, type MicroPage } from '../test/support/micro-pages/micro-page.ts';
import { microPages } from '../test/support/micro-pages/micro-pages.ts';
import { COMPARED_PACKAGES, COMPETITORS, type Contender, OURS } from './contenders.ts';
import { packageBaseline, report } from './report.ts';
import { machine } from './support.ts';

const { values } = parseArgs({
  options: { family: { type: 'string' }, limit: { type: 'string' }, page: { type: 'string' } },
});
const all = microPages();
const families = [...new Set(all.map(({ family }) => family))];
if (values.family !== undefined && !families.includes(values.family)) {
  throw new Error(`there is no family "${values.family}"; choose one of: ${families.join(', ')}`);
}
const limit = Number(values.limit ?? all.length);
const chosenFamilies = values.family === undefined ? families : [values.family];
const pages = chosenFamilies.flatMap((family) => all.filter((page) => page.family === family).slice(0, limit));
const CONTENDERS = [OURS, ...COMPETITORS.filter(({ name }) => /^(?:readability|defuddle) /.test(name))];

if (values.page === undefined) await compare();
else await explain(pages.filter(({ name }) => name.includes(values.page!)));

async function explain(chosen: readonly MicroPage[]): Promise<void> {
  for (const page of chosen) {
    const { lost, extra, texts } = await faultsAtUrls(page, OURS.read);
    console.log(`# ${page.family}: ${page.name}\n\nlost: ${JSON.stringify(lost)}\nfurniture: ${JSON.stringify(extra)}`);
    console.log(`different texts: ${texts}\n\n${page.html}\n${await OURS.read(page.html, MICRO_PAGE_URLS[0]!)}\n`);
  }
}

/** What a contender got right on a page. */
interface Score {
  readonly family: string;
  readonly kept: boolean;
  readonly dropped: boolean;
  readonly same: boolean;
}

async function scoresOf({ read }: Contender): Promise<Score[]> {
  const scores: Score[] = [];
  for (const page of pages) {
    const { lost, extra, texts } = await faultsAtUrls(page, async (html, url) => {
      try {
        return await read(html, url);
      } catch {
        return '';
      }
    });
    scores.push({ family: page.family, kept: lost.length === 0, dropped: extra.length === 0, same: texts === 1 });
  }
  return scores;
}

async function compare(): Promise<void> {
  const messages = console.error;
  // Programs complain about single pages, in hundreds of lines.
  console.error = () => {};
  const scores: Score[][] = [];
  for (const contender of CONTENDERS) scores.push(await scoresOf(contender));
  console.error = messages;
  const heads = ['family', 'pages', ...CONTENDERS.map(({ name }) => name)];
  const rows = (right: (score: Score) => boolean) =>
    [...chosenFamilies, 'all'].map((family) => {
      const isOf = (score: { family: string }) => family === 'all' || score.family === family;
      const counts = scores.map((own) => String(own.filter((score) => isOf(score) && right(score)).length));
      return [family, String(pages.filter(isOf).length), ...counts];
    });
  const baselines = COMPARED_PACKAGES.map((name) => packageBaseline(name));
  console.log(`${pages.length} pages at ${MICRO_PAGE_URLS.length} URLs; ${machine()}`);
  console.log('\nPages with all wanted text at every URL:\n');
  report(
    'micro.kept',
    heads,
    rows(({ kept }) => kept),
    { baselines },
  );
  console.log('\nPages without furniture at every URL:\n');
  report(
    'micro.clean',
    heads,
    rows(({ dropped }) => dropped),
    { baselines },
  );
  console.log('\nPages with the same text at every URL:\n');
  report(
    'micro.stable',
    heads,
    rows(({ same }) => same),
    { baselines },
  );
}
