/** All tools, in the order of the tool list. */
import type { LocalFiles } from '../local-files.ts';
import type { Tool } from '../tool.ts';
import { crawlSite } from './crawl-site.ts';
import { deduplicate } from './deduplicate.ts';
import { embed } from './embed.ts';
import { readDocument, readDocumentWithFiles } from './read-document.ts';
import { readUrl } from './read-url.ts';
import { readUrls } from './read-urls.ts';
import { rerank } from './rerank.ts';
import { screenshot } from './screenshot.ts';
import { searchIndex, searchWeb } from './search.ts';

export const toolsFor = (files: LocalFiles | undefined): readonly Tool[] => [
  readUrl,
  readUrls,
  crawlSite,
  searchWeb,
  searchIndex,
  files ? readDocumentWithFiles(files.folders) : readDocument,
  screenshot,
  rerank,
  embed,
  deduplicate,
];
