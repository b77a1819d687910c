/** The text of the resource that lists every option of the tools, so that the tool list need not. */
import { CRAWL_OPTIONS } from '#crawl/index.ts';
import { type DescribedOption, describe } from '#http/openapi.ts';
import { OPTIONS } from '#reader/index.ts';
import { ALL_OPTIONS } from '#search/index.ts';
import { COMMON_OPTIONS, FURTHER_OPTIONS } from './reading.ts';
import { crawlSite } from './tools/crawl-site.ts';
import { FURTHER_SEARCH_OPTIONS, searchWeb } from './tools/search.ts';

type Table = Readonly<Record<string, DescribedOption>>;

const readerNames: readonly string[] = [...Object.keys(COMMON_OPTIONS), 'page', ...FURTHER_OPTIONS];

const namesIn = (table: Table, names: readonly string[]) => [...new Set(names)].filter((name) => name in table);

/** Lists the options of `table` with these names. */
const list = (table: Table, names: readonly string[]): string =>
  namesIn(table, names)
    .map((name) => `- \`${name}\`: ${describe(table[name]!)}`)
    .join('\n');

export const optionsText = (): string =>
  [
    '# Reading',
    'For read_url, read_urls and read_document, in `options`.',
    list(OPTIONS, readerNames),
    '# Searching',
    'For search_web and search_index, in `options`. Options of reading with other names apply to the pages of results.',
    list(
      ALL_OPTIONS,
      [...Object.keys(searchWeb.input.shape), ...FURTHER_SEARCH_OPTIONS].filter((name) => !readerNames.includes(name)),
    ),
    '# Crawling',
    'Arguments of crawl_site.',
    list(CRAWL_OPTIONS, Object.keys(crawlSite.input.shape)),
  ].join('\n\n');
