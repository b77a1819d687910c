/** Fetches and caches robots.txt files, and checks URLs against them (the `robotsTxt` option). */
import { asProblem, type Problem, problem } from '#errors.ts';
import { type FetchResponse, type GuardedFetch, RedirectRefusedError } from '../fetch/fetch.ts';
import { parseRobots, type RobotsRules } from './robots-rules.ts';

export interface RobotsOptions {
  readonly fetch: GuardedFetch;
  /** User-Agent header of the request for the file. */
  readonly userAgent?: string | undefined;
  readonly clock?: () => number;
}

export interface RobotsCheck {
  readonly signal?: AbortSignal | undefined;
  readonly proxy?: URL | undefined;
  readonly acceptInvalidCertificates?: boolean;
  /** If true, the file is not cached. */
  readonly zeroDataRetention?: boolean;
}

export interface Robots {
  /**
   * Resolves if the agent may request the URL. `agent` is a product token, or `true` or `*` for any agent. A missing or
   * unreachable file allows everything. Throws ResourcePolicyDenyError if the file forbids the URL.
   */
  check(url: string | URL, agent: string, options?: RobotsCheck): Promise<void>;
  /** Returns the rules of a URL's site; empty if the site has no file. */
  rules(url: string | URL, options?: RobotsCheck): Promise<SiteRules>;
}

export interface SiteRules extends RobotsRules {
  /**
   * Set if the file is temporarily unavailable: the response status (429, or 500 and above) or the network problem.
   * Crawlers must then treat the whole site as forbidden (RFC 9309, section 2.3.1.4).
   */
  readonly unknownFor?: number | Problem;
}

const TIMEOUT_MS = 5_000;
/** A file that needs more redirects counts as missing (RFC 9309, section 2.3.1.2). */
const MAX_REDIRECTS = 5;
/** If a file is larger, the rest is ignored (RFC 9309, section 2.5). */
const MAX_BYTES = 500 * 1024;

const FRESH_MS = 10 * 60_000;
/** How long a temporary failure is cached. */
const FAILED_FRESH_MS = 20_000;
const MAX_FILES = 1_000;
/** Maximum total size of the cached files, in characters. The parsed rules use about ten times as many bytes. */
const MAX_CACHED_CHARACTERS = 4 * 1024 ** 2;

const NO_RULES = parseRobots('');

interface CacheEntry {
  readonly rules: SiteRules;
  readonly characters: number;
  readonly expiresAt: number;
}

export function createRobots({ fetch, userAgent, clock = Date.now }: RobotsOptions): Robots {
  const cached = new Map<string, CacheEntry>();
  let cachedCharacters = 0;

  const remove = (key: string) => {
    cachedCharacters -= cached.get(key)?.characters ?? 0;
    cached.delete(key);
  };

  const store = (key: string, { rules, characters, freshMs }: Downloaded) => {
    remove(key);
    cached.set(key, { rules, characters, expiresAt: clock() + freshMs });
    cachedCharacters += characters;
    for (const oldest of cached.keys()) {
      if (cached.size <= MAX_FILES && cachedCharacters <= MAX_CACHED_CHARACTERS) break;
      remove(oldest);
    }
  };

  const rulesOf = async ({ origin }: URL, options: RobotsCheck): Promise<SiteRules> => {
    const key = JSON.stringify([origin, options.proxy?.href, options.acceptInvalidCertificates === true]);
    const found = cached.get(key);
    if (found && found.expiresAt > clock()) return found.rules;
    remove(key);
    const downloaded = await download(fetch, `${origin}/robots.txt`, userAgent, options);
    if (!options.zeroDataRetention) store(key, downloaded);
    return downloaded.rules;
  };

  return {
    rules: async (url, options = {}) => rulesOf(new URL(url), options),
    async check(target, agent, options = {}) {
      const url = new URL(target);
      const token = agent.trim();
      const isAnyAgent = token.toLowerCase() === 'true' || token === '*';
      const rules = await rulesOf(url, options);
      if (rules.allows(url, isAnyAgent ? '*' : token)) return;
      throw problem('ResourcePolicyDenyError', {
        path: 'robotsTxt',
        message: 'The robots.txt of the site does not allow reading this URL',
      });
    },
  };
}

interface Downloaded extends Pick<CacheEntry, 'rules' | 'characters'> {
  readonly freshMs: number;
}

const ABSENT: Downloaded = { rules: NO_RULES, characters: 0, freshMs: FRESH_MS };
const unavailable = (unknownFor: number | Problem): Downloaded => ({
  rules: { ...NO_RULES, unknownFor },
  characters: 0,
  freshMs: FAILED_FRESH_MS,
});

/** Downloads and parses a robots.txt file. */
async function download(
  fetch: GuardedFetch,
  url: string,
  userAgent: string | undefined,
  { signal, proxy, acceptInvalidCertificates = false }: RobotsCheck,
): Promise<Downloaded> {
  let redirects = 0;
  try {
    const response = await fetch(url, {
      headers: { ...(userAgent && { 'user-agent': userAgent }), accept: 'text/plain,*/*;q=0.5' },
      signal,
      proxy,
      acceptInvalidCertificates,
      timeoutMs: TIMEOUT_MS,
      async checkRedirect() {
        if (++redirects > MAX_REDIRECTS) throw new RedirectRefusedError();
      },
    });
    const { status } = response;
    if (status >= 200 && status < 300) {
      const text = await readText(response);
      return { rules: parseRobots(text), characters: text.length, freshMs: FRESH_MS };
    }
    response.discard();
    return status === 429 || status >= 500 ? unavailable(status) : ABSENT;
  } catch (error) {
    if (signal?.aborted) throw error;
    if (error instanceof RedirectRefusedError) return ABSENT;
    return unavailable(asProblem(error));
  }
}

/** Reads the first MAX_BYTES of the file, without an incomplete last line. */
async function readText(response: FetchResponse): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes >= MAX_BYTES) break;
  }
  const text = Buffer.concat(chunks).subarray(0, MAX_BYTES).toString('utf8');
  return bytes >= MAX_BYTES ? text.slice(0, Math.max(text.lastIndexOf('\n'), text.lastIndexOf('\r')) + 1) : text;
}
