// Calls a compat host through Firecrawl's published clients, the current one and an old one, in the way that their users
// do. Arguments: the URL of the host, an API key, and the origin of a website. Prints the results as JSON. This is a
// separate program because the clients are not dependencies of Lectern.

import { register } from 'node:module';
import Firecrawl, { FirecrawlAppV1 } from '@mendable/firecrawl-js';
import FirecrawlV1 from 'firecrawl-v1';

const [, , apiUrl, apiKey, origin] = process.argv;

const failure = async (work) => {
  try {
    await work();
  } catch (error) {
    return { message: error.message, status: error.status ?? error.statusCode, code: error.code };
  }
  return undefined;
};

/** Collects the events of a watcher until it is done. */
const watched = (watcher) =>
  new Promise((resolve, reject) => {
    const urls = [];
    const urlOf = (event) => (event.detail ?? event).metadata.sourceURL;
    const listen = (name, listener) =>
      watcher.on ? watcher.on(name, listener) : watcher.addEventListener(name, listener);
    listen('document', (event) => urls.push(urlOf(event)));
    listen('error', (event) => reject(new Error((event.detail ?? event).error)));
    listen('done', (event) => resolve({ status: (event.detail ?? event).status, urls }));
    watcher.start?.().catch(reject);
  });

async function current() {
  const client = new Firecrawl({ apiUrl, apiKey });
  const stranger = new Firecrawl({ apiUrl, apiKey: 'lectern_wrong' });
  const crawlOptions = {
    sitemap: 'skip',
    ignoreQueryParameters: true,
    scrapeOptions: { formats: ['markdown', 'links'] },
  };
  const started = await client.startCrawl(`${origin}/docs/`, { ...crawlOptions, delay: 0.2 });
  const live = await watched(client.watcher(started.id, { kind: 'crawl' }));
  const hanging = await client.startCrawl(`${origin}/hangs`, { limit: 1 });
  const active = await client.getActiveCrawls();
  return {
    scraped: await client.scrape(`${origin}/docs/`, { formats: ['markdown', 'html', 'links', { type: 'screenshot' }] }),
    badFormat: await failure(() => client.scrape(`${origin}/docs/`, { formats: ['changeTracking'] })),
    badUrl: await failure(() => client.scrape('http://10.0.0.1/')),
    unknownHost: await failure(() => client.scrape('http://nowhere.invalid/')),
    badKey: await failure(() => stranger.scrape(`${origin}/docs/`)),
    batch: await client.batchScrape([`${origin}/docs/a`, `${origin}/docs/b`, 'no url'], {
      options: { formats: ['markdown'] },
      pollInterval: 1,
    }),
    batchErrors: await client.getBatchScrapeErrors(
      (await client.startBatchScrape([`${origin}/docs/a`], { ignoreInvalidURLs: true })).id,
    ),
    crawled: await client.crawl(`${origin}/docs/`, { ...crawlOptions, pollInterval: 1 }),
    crawlErrors: await client.getCrawlErrors(started.id),
    live,
    started: { ...started, active: active.crawls.map(({ id, url }) => ({ id, url })), hanging: hanging.id },
    cancelled: await client.cancelCrawl(hanging.id),
    afterCancel: (await client.getCrawlStatus(hanging.id)).status,
    unknownJob: await failure(() => client.getCrawlStatus('00000000-0000-4000-8000-000000000000')),
    mapped: await client.map(`${origin}/docs/`, { sitemap: 'skip' }),
    found: await client.search('docs', { limit: 2 }),
    read: await client.search('docs', { limit: 2, scrapeOptions: { formats: ['markdown'] } }),
    parsed: await client.parse({ data: 'name,age\nAda,36\n', filename: 'people.csv', contentType: 'text/csv' }),
    usage: await client.getCreditUsage(),
    queue: await client.getQueueStatus(),
    concurrency: await client.getConcurrency(),
  };
}

/** The first interface, in the old package and in the current one. */
async function first(Client) {
  const client = new Client({ apiUrl, apiKey });
  const params = { ignoreSitemap: true, limit: 3, scrapeOptions: { formats: ['markdown'] } };
  return {
    scraped: await client.scrapeUrl(`${origin}/docs/`, { formats: ['markdown', 'links'], timeout: 7_500 }),
    badFormat: await failure(() => client.scrapeUrl(`${origin}/docs/`, { formats: ['nonsense'] })),
    crawled: await client.crawlUrl(`${origin}/docs/`, params, 2),
    live: await watched(await client.crawlUrlAndWatch(`${origin}/docs/`, params)),
    batch: await client.batchScrapeUrls([`${origin}/docs/a`, `${origin}/docs/b`], { formats: ['markdown'] }, 2),
    mapped: await client.mapUrl(`${origin}/docs/`, { ignoreSitemap: true }),
    found: await client.search('docs', { limit: 2 }),
  };
}

/** LangChain's loader. It was written for the old package, which npm installs under its own name for users of Node 20. */
async function loader() {
  const hook = `export const resolve = (name, context, next) =>
    next(name === '@mendable/firecrawl-js' ? 'firecrawl-v1' : name, context);`;
  register(`data:text/javascript,${encodeURIComponent(hook)}`);
  const { FireCrawlLoader } = await import('@langchain/community/document_loaders/web/firecrawl');
  const load = (url, options) => new FireCrawlLoader({ url, apiKey, apiUrl, ...options }).load();
  return {
    scraped: await load(`${origin}/docs/`, { mode: 'scrape' }),
    crawled: await load(`${origin}/docs/`, { mode: 'crawl', params: { ignoreSitemap: true, limit: 3 } }),
    mapped: await load(`${origin}/docs/`, { mode: 'map', params: { ignoreSitemap: true } }),
  };
}

const results = {
  current: await current(),
  old: await first(FirecrawlV1),
  first: await first(FirecrawlAppV1),
  loader: await loader(),
};
// Some clients print lines of their own. Our result is the last line.
process.stdout.write(`\n${JSON.stringify(results)}`);
