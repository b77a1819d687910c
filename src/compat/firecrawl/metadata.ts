/** The `metadata` of a document. */
import { STATUS_CODES } from 'node:http';
import { ownValue } from '#own-value.ts';
import type { Page, ReadDetails } from '#reader/index.ts';

export interface MetadataFacts {
  /** The URL as the caller sent it. Clients find documents by it. */
  readonly sourceUrl: string;
  readonly scrapeId: string;
  readonly details: ReadDetails | undefined;
}

/** Names of the original for metas, by their names in pages. */
const OWN_NAMES: Readonly<Record<string, string>> = {
  'og:title': 'ogTitle',
  'og:description': 'ogDescription',
  'og:url': 'ogUrl',
  'og:image': 'ogImage',
  'og:audio': 'ogAudio',
  'og:determiner': 'ogDeterminer',
  'og:locale': 'ogLocale',
  'og:site_name': 'ogSiteName',
  'og:video': 'ogVideo',
  'article:section': 'articleSection',
  'article:tag': 'articleTag',
  'article:published_time': 'publishedTime',
  'article:modified_time': 'modifiedTime',
  'dcterms.created': 'dcTermsCreated',
  'dc.date.created': 'dcDateCreated',
  'dc.date': 'dcDate',
  'dcterms.type': 'dcTermsType',
  'dc.type': 'dcType',
  'dcterms.audience': 'dcTermsAudience',
  'dcterms.subject': 'dcTermsSubject',
  'dc.subject': 'dcSubject',
  'dc.description': 'dcDescription',
  'dcterms.keywords': 'dcTermsKeywords',
};
const LOCALES = 'og:locale:alternate';

/** Keys that describe the read. A page cannot set them. */
const RESERVED: ReadonlySet<string> = new Set([
  ...['title', 'description', 'language', 'url', 'sourceURL', 'statusCode', 'contentType', 'error', 'numPages'],
  ...['scrapeId', 'proxyUsed', 'cacheState', 'cachedAt', 'creditsUsed', 'ogLocaleAlternate', 'favicon', 'timezone'],
]);
const OK = 200;
const FORBIDDEN = 403;

export function writeMetadata(page: Page, { sourceUrl, scrapeId, details }: MetadataFacts): Record<string, unknown> {
  const { targetStatus = OK, blocked, metadata = {}, publishedTime, numPages } = page;
  const statusCode = blocked && targetStatus < 400 ? FORBIDDEN : targetStatus;
  const error = blocked?.kind ?? (statusCode >= 400 ? (STATUS_CODES[statusCode] ?? 'Error') : undefined);
  const language = metadata['lectern:language'] ?? metadata.lang;
  const modifiedTime = metadata['lectern:modifiedTime'];
  const favicon = faviconOf(page);
  const locales = metadata[LOCALES];
  return {
    ...(publishedTime && { publishedTime }),
    ...(modifiedTime && { modifiedTime }),
    ...namedMetas(metadata),
    ...(page.title && { title: page.title }),
    ...(page.description && { description: page.description }),
    ...(language && { language }),
    ...(favicon && { favicon }),
    ...(locales && { ogLocaleAlternate: locales.split(',') }),
    url: page.url,
    sourceURL: sourceUrl,
    statusCode,
    ...(details && { contentType: details.mediaType }),
    ...(error !== undefined && { error }),
    ...(numPages !== undefined && { numPages }),
    scrapeId,
    proxyUsed: 'basic',
    cacheState: details?.cachedAt === undefined ? 'miss' : 'hit',
    ...(details?.cachedAt !== undefined && { cachedAt: new Date(details.cachedAt).toISOString() }),
    creditsUsed: 1,
  };
}

/** The metas of the page under the names of the original and under their own. */
function namedMetas(metadata: Readonly<Record<string, string>>): Record<string, string> {
  const named: [string, string][] = [];
  for (const [name, value] of Object.entries(metadata)) {
    if (/^(?:lectern|jsonld):/.test(name) || name === 'lang' || name === LOCALES || RESERVED.has(name)) continue;
    named.push([name, value]);
    const own = ownValue(OWN_NAMES, name.toLowerCase());
    if (own !== undefined) named.push([own, value]);
  }
  return Object.fromEntries(named);
}

function faviconOf({ external = {} }: Page): string | undefined {
  for (const [rel, links] of Object.entries(external)) {
    if (/(?:^|\s)icon(?:\s|$)/i.test(rel)) return Object.keys(links)[0];
  }
  return undefined;
}
