/** What a crawl is asked for, checked: its own fields, and options of the reader for every page. */
import type { FastifyRequest } from 'fastify';
import type { Visit } from '#accounts/index.ts';
import { CRAWL_OPTIONS, type GivenCrawl } from '#crawl/index.ts';
import { Problem, problem } from '#errors.ts';
import { gather } from '#http/gather.ts';
import type { Guard } from '#net/guard/guard.ts';
import { cleanUrl, featuresNeeded, type GivenOptions, OPTIONS, resolve } from '#reader/index.ts';

export interface CrawlRules {
  readonly guard: Guard;
  /** The address of this host as callers see it; that of the request when unset. */
  readonly publicUrl?: string | undefined;
  /** For reads that name none. */
  readonly userAgent?: string | undefined;
}

export interface AskedCrawl {
  readonly asked: GivenCrawl;
  readonly options: GivenOptions;
}

/**
 * ParamValidationError for a field at fault, with its path (`options.respondWith`); SecurityCompromiseError for a start
 * that may not be read; what the caller's plan has not, as for a read. Fields of no meaning are passed over, as a read
 * does.
 */
export function readCrawl(request: FastifyRequest, visit: Visit, rules: CrawlRules): AskedCrawl {
  const body = request.body as Record<string, unknown> | undefined;
  const asked = gather(CRAWL_OPTIONS, { headers: {}, body });
  const options = readerOptions(asked.options ?? {}, visit, rules);
  for (const text of [asked.url ?? [], asked.urls ?? []].flat()) refuseStart(text, request, rules);
  return { asked, options };
}

/** What is read is the crawl's affair. */
const TARGETS = ['url', 'html', 'file', 'pdf'] as const;
const PICTURES = /screenshot|pageshot/;

function readerOptions(body: Record<string, unknown>, visit: Visit, { userAgent }: CrawlRules): GivenOptions {
  const target = TARGETS.find((name) => body[name] !== undefined && body[name] !== null);
  if (target) throw refused(target, 'says what is read, which a crawl finds out by itself');
  const given = { ...(userAgent && { userAgent }), ...gathered(body) };
  if (given.zeroDataRetention)
    throw refused('zeroDataRetention', 'cannot be kept: a crawl keeps pages until they are fetched');
  if (PICTURES.test(given.respondWith ?? '')) throw refused('respondWith', 'must not ask a crawl for pictures');
  const options = resolve(given);
  for (const { feature, option } of featuresNeeded(given, options)) visit.allow(feature, `options.${option}`);
  return given;
}

const refused = (name: string, what: string) =>
  problem('ParamValidationError', { path: `options.${name}`, message: `options.${name} ${what}` });

/** The reader's own words on its options, under the name of the field that they stand in. */
function gathered(body: Record<string, unknown>): GivenOptions {
  try {
    return gather(OPTIONS, { headers: {}, body });
  } catch (error) {
    if (!(error instanceof Problem) || typeof error.facts.path !== 'string') throw error;
    const path = `options.${error.facts.path}`;
    const isNamed = error.message.startsWith(error.facts.path);
    throw problem(error.name, { ...error.facts, path, message: isNamed ? `options.${error.message}` : error.message });
  }
}

/** Addresses that can be told beforehand; what a name stands for is held against the rules when it is dialled. */
function refuseStart(text: string, { headers }: FastifyRequest, { guard, publicUrl }: CrawlRules): void {
  let url: URL;
  try {
    url = new URL(cleanUrl(text));
  } catch {
    // The room says which of them it is.
    return;
  }
  const own = [headers.host, publicUrl && new URL(publicUrl).host];
  if (own.some((host) => host?.toLowerCase() === url.host)) {
    throw problem('SecurityCompromiseError', { path: 'url', message: 'This server does not read itself' });
  }
  guard.checkUrl(url);
}
