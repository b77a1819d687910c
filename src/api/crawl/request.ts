/** Parses and checks a crawl request: its own fields, and the reader options for its pages. */
import type { FastifyRequest } from 'fastify';
import type { Admission } from '#accounts/index.ts';
import { CRAWL_OPTIONS, type GivenCrawl } from '#crawl/index.ts';
import { Problem, problem } from '#errors.ts';
import { gather } from '#http/gather.ts';
import type { Guard } from '#net/guard/guard.ts';
import { cleanUrl, featuresNeeded, type GivenOptions, OPTIONS, resolve } from '#reader/index.ts';
import { resolveUserAgent } from '../user-agent.ts';

export interface CrawlRules {
  readonly guard: Guard;
  /** The URL of this host as callers see it. Default: the host of each request. */
  readonly publicUrl?: string | undefined;
  /** The User-Agent of reads that do not set one. */
  readonly userAgent?: string | undefined;
  /** Whether a vision model is configured. */
  readonly describesImages: boolean;
}

export interface CrawlSubmission {
  readonly asked: GivenCrawl;
  readonly options: GivenOptions;
}

/**
 * Throws ParamValidationError with the path of an invalid field (`options.respondWith`), and SecurityCompromiseError
 * for a forbidden start URL. If a feature is missing, throws the same problem as a read. Ignores unknown fields.
 */
export function readCrawl(
  request: FastifyRequest,
  admission: Admission,
  rules: CrawlRules,
  body = request.body as Readonly<Record<string, unknown>> | undefined,
): CrawlSubmission {
  const asked = gather(CRAWL_OPTIONS, { headers: {}, body });
  const options = readPageOptions(request, admission, rules, asked.options ?? {});
  for (const text of [asked.url ?? [], asked.urls ?? []].flat()) refuseStartUrl(text, request, rules);
  return { asked, options };
}

/** Parses the reader options of a crawl. Errors have paths below `options`. */
export const readPageOptions = (
  request: FastifyRequest,
  admission: Admission,
  rules: CrawlRules,
  body: Record<string, unknown>,
): GivenOptions => resolveUserAgent(readerOptions(body, admission, rules), request, admission.caller);

/** Options that name a target. They cannot be set, because the crawl finds its targets itself. */
const TARGETS = ['url', 'html', 'file', 'pdf'] as const;
const PICTURES = /screenshot|pageshot/;

function readerOptions(body: Record<string, unknown>, admission: Admission, rules: CrawlRules): GivenOptions {
  const { userAgent } = rules;
  const target = TARGETS.find((name) => body[name] !== undefined && body[name] !== null);
  if (target) throw invalidOption(target, 'cannot be set, because a crawl finds the pages to read itself');
  const given = { ...(userAgent && { userAgent }), ...readOptions(body) };
  if (given.zeroDataRetention)
    throw invalidOption('zeroDataRetention', 'cannot be set, because a crawl stores pages until they are fetched');
  if (PICTURES.test(given.respondWith ?? ''))
    throw invalidOption('respondWith', 'cannot be a screenshot format in a crawl');
  const options = resolve(given);
  for (const { feature, option } of featuresNeeded(given, options, rules))
    admission.requireFeature(feature, `options.${option}`);
  return given;
}

const invalidOption = (name: string, what: string) =>
  problem('ParamValidationError', { path: `options.${name}`, message: `options.${name} ${what}` });

/** Parses reader options. In errors, `path` is the path of the field that contains the options. */
function readOptions(body: Record<string, unknown>): GivenOptions {
  try {
    return gather(OPTIONS, { headers: {}, body });
  } catch (error) {
    if (!(error instanceof Problem) || typeof error.facts.path !== 'string') throw error;
    const path = `options.${error.facts.path}`;
    const isNamed = error.message.startsWith(error.facts.path);
    throw problem(error.name, { ...error.facts, path, message: isNamed ? `options.${error.message}` : error.message });
  }
}

/**
 * Refuses forbidden URLs early, without DNS. The IP addresses of host names are checked when the connection is opened.
 */
export function refuseStartUrl(text: string, { headers }: FastifyRequest, { guard, publicUrl }: CrawlRules): void {
  let url: URL;
  try {
    url = new URL(cleanUrl(text));
  } catch {
    // The crawl module reports the invalid URL.
    return;
  }
  const own = [headers.host, publicUrl && new URL(publicUrl).host];
  if (own.some((host) => host?.toLowerCase() === url.host)) {
    throw problem('SecurityCompromiseError', { path: 'url', message: 'This server does not read its own pages' });
  }
  guard.checkUrl(url);
}
