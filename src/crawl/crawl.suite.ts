/** A crawl module over a fake web, in which a function returns each page. */
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { problem } from '#errors.ts';
import type { FetchResponse, GuardedFetch } from '#net/fetch/fetch.ts';
import type { Robots } from '#net/robots/robots.ts';
import { parseRobots } from '#net/robots/robots-rules.ts';
import type { GivenOptions, Reader, Rendition } from '#reader/index.ts';
import type { Billing, ChargedRead } from './billing.ts';
import { type CrawlJob, isFinal } from './job.ts';
import { type CrawlModule, type CrawlModuleOptions, type CrawlSubmission, openCrawl } from './open.ts';

export interface FakePage {
  readonly content?: string;
  readonly links?: readonly string[];
  readonly nofollow?: boolean;
  readonly status?: number;
  readonly retryAfter?: string;
  /** The URL after redirects. */
  readonly url?: string;
  readonly canonical?: string;
}

/** Returns the page at a URL. May throw or take a long time. */
export type Web = (url: string, signal: AbortSignal) => FakePage | Promise<FakePage>;

export interface TestCrawls {
  readonly module: CrawlModule;
  readonly dataDir: string;
  /** How many times each URL was read. */
  readonly reads: Map<string, number>;
  /** The URLs in the order in which they were read. */
  readonly order: string[];
  readonly charged: Map<string, ChargedRead>;
  readonly noted: ChargedRead[];
  submit(given: CrawlSubmission['given'], owner?: Partial<CrawlSubmission>): Promise<CrawlJob>;
  ended(id: string): Promise<CrawlJob>;
  // biome-ignore lint/suspicious/noExplicitAny: tests read any field of a result
  results(job: CrawlJob, after?: number): Promise<any[]>;
  close(): Promise<void>;
}

export interface TestCrawlOptions extends Partial<Omit<CrawlModuleOptions, 'robots' | 'fetch' | 'reader'>> {
  /** The robots.txt of each origin, or how many times fetching it fails. */
  readonly robots?: Readonly<Record<string, string | number>>;
  /** Files by URL. */
  readonly files?: Readonly<Record<string, string>>;
  readonly reserve?: Billing['reserve'];
}

export function webReader(web: Web, reads: Map<string, number> = new Map(), order: string[] = []): Reader {
  async function last({ target, signal }: Parameters<Reader['last']>[0]): Promise<Rendition> {
    const { url } = target;
    reads.set(url, (reads.get(url) ?? 0) + 1);
    order.push(url);
    const fakePage = await web(url, signal);
    const { content = `The page ${url}`, links = [], nofollow = false, status = 200, retryAfter, canonical } = fakePage;
    const metadata: Record<string, string> = canonical === undefined ? {} : { 'lectern:canonicalUrl': canonical };
    const tokens = content.length;
    return {
      page: { title: url, description: '', url, content, metadata, usage: { tokens } },
      body: content,
      tokens,
      status,
      retryAfter,
      pageLinks: { url: fakePage.url ?? url, nofollow, links: links.map((link) => ({ url: link, nofollow: false })) },
    };
  }
  return {
    last,
    async *each(request) {
      yield await last(request);
    },
  };
}

function robotsOf(files: Readonly<Record<string, string | number>>): Robots {
  let requests = 0;
  return {
    async rules(url) {
      const file = files[new URL(url).origin] ?? '';
      if (typeof file === 'string') return parseRobots(file);
      return requests++ < file ? { ...parseRobots(''), unknownFor: 500 } : parseRobots('');
    },
    check: async () => {},
  };
}

/** Serves `files`; every other URL returns 404. */
const fetchOf = (files: Readonly<Record<string, string>>): GuardedFetch => {
  const fetch = async (url: URL | string): Promise<FetchResponse> => {
    const text = files[String(url)];
    const bytes = Buffer.from(text ?? '');
    return {
      ...{ url: String(url), status: text === undefined ? 404 : 200, statusText: '', headers: {}, redirected: false },
      body: (async function* () {
        yield bytes;
      })(),
      parts: (async function* () {
        yield bytes;
      })(),
      collect: async () => ({ bytes }),
      discard() {},
    };
  };
  return Object.assign(fetch, { close: async () => {} });
};

export async function openTestCrawls(web: Web, options: TestCrawlOptions = {}): Promise<TestCrawls> {
  const { robots = {}, files = {}, reserve = async () => ({}), ...rest } = options;
  const dataDir = rest.dataDir ?? mkdtempSync(path.join(os.tmpdir(), 'crawl-'));
  const reads = new Map<string, number>();
  const order: string[] = [];
  const charged = new Map<string, ChargedRead>();
  const noted: ChargedRead[] = [];
  const module = await openCrawl({
    reader: webReader(web, reads, order),
    robots: robotsOf(robots),
    fetch: fetchOf(files),
    billing: {
      reserve,
      note: (read) => void noted.push(read),
      async charge(some) {
        for (const read of some) charged.set(read.id, read);
      },
    },
    limits: { maxPages: 200_000, hostPages: 16, delayMs: 0 },
    jobs: 4,
    maxPagesAtOnce: 16,
    keepMs: 86_400_000,
    retryMs: [0, 0],
    log: { warn() {} },
    ...rest,
    dataDir,
  });

  return {
    module,
    dataDir,
    reads,
    order,
    charged,
    noted,
    submit: (given, owner = {}) =>
      module.submit({ owner: 'key', account: 'account', options: {} as GivenOptions, given, ...owner }),
    async ended(id) {
      for (;;) {
        const job = (await module.find(id))!;
        if (isFinal(job.state)) return job;
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
    },
    async results(job, after = 0) {
      const all = [];
      for await (const { body } of module.results(job, { after })) all.push(JSON.parse(body));
      return all;
    },
    async close() {
      await module.close();
      if (!rest.dataDir) rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

export const unreached = () => problem('AssertionFailureError', { message: 'The target could not be reached in time' });
