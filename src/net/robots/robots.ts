/** Whether a site's robots.txt lets an agent read an address (option `robotsTxt`; contract, section 12). */
import { asProblem, type Problem, problem } from '#errors.ts';
import { type FetchResponse, type GuardedFetch, RedirectRefusedError } from '../fetch/fetch.ts';
import { parseRobots, type RobotsRules } from './robots-rules.ts';

export interface RobotsOptions {
  readonly fetch: GuardedFetch;
  /** Who asks for the file. */
  readonly userAgent?: string | undefined;
  readonly clock?: () => number;
}

export interface RobotsCheck {
  readonly signal?: AbortSignal | undefined;
  readonly proxy?: URL | undefined;
  readonly acceptInvalidCertificates?: boolean;
  /** Keeps nothing of the site in memory. */
  readonly zeroDataRetention?: boolean;
}

export interface Robots {
  /**
   * Returns when the agent may read the address: a product token, or `true` or `*` for anybody. A file that is missing,
   * answers with an error or cannot be reached allows everything. ResourcePolicyDenyError: it may not.
   */
  check(url: string | URL, agent: string, options?: RobotsCheck): Promise<void>;
  /** The rules of the site of an address; those of an empty file when there is none to be had. */
  rules(url: string | URL, options?: RobotsCheck): Promise<SiteRules>;
}

export interface SiteRules extends RobotsRules {
  /**
   * Set when the site cannot tell for the moment: the status that it answered with, 429 or from 500 on, or why it could not
   * be reached. A crawler is to take either as forbidding all (RFC 9309, section 2.3.1.4).
   */
  readonly unknownFor?: number | Problem;
}

const TIMEOUT_MS = 5_000;
/** A file behind more of them counts as one that is not there (RFC 9309, section 2.3.1.2). */
const MAX_REDIRECTS = 5;
/** RFC 9309, section 2.5. What comes later does not count. */
const MAX_BYTES = 500 * 1024;

const FRESH_MS = 10 * 60_000;
/** Of a file that could not be had for a reason that may pass. */
const FAILED_FRESH_MS = 20_000;
const MAX_FILES = 1_000;
/** Of the files; their rules take some ten times as many bytes. */
const MAX_KEPT_CHARACTERS = 4 * 1024 ** 2;

const NO_RULES = parseRobots('');

interface Kept {
  readonly rules: SiteRules;
  readonly characters: number;
  readonly until: number;
}

export function createRobots({ fetch, userAgent, clock = Date.now }: RobotsOptions): Robots {
  const kept = new Map<string, Kept>();
  let keptCharacters = 0;

  const drop = (key: string) => {
    keptCharacters -= kept.get(key)?.characters ?? 0;
    kept.delete(key);
  };

  const keep = (key: string, { rules, characters, freshMs }: Downloaded) => {
    drop(key);
    kept.set(key, { rules, characters, until: clock() + freshMs });
    keptCharacters += characters;
    for (const oldest of kept.keys()) {
      if (kept.size <= MAX_FILES && keptCharacters <= MAX_KEPT_CHARACTERS) break;
      drop(oldest);
    }
  };

  const rulesOf = async ({ origin }: URL, options: RobotsCheck): Promise<SiteRules> => {
    const key = JSON.stringify([origin, options.proxy?.href, options.acceptInvalidCertificates === true]);
    const found = kept.get(key);
    if (found && found.until > clock()) return found.rules;
    drop(key);
    const downloaded = await download(fetch, `${origin}/robots.txt`, userAgent, options);
    if (!options.zeroDataRetention) keep(key, downloaded);
    return downloaded.rules;
  };

  return {
    rules: async (address, options = {}) => rulesOf(new URL(address), options),
    async check(address, agent, options = {}) {
      const url = new URL(address);
      const token = agent.trim();
      const isAnybody = token.toLowerCase() === 'true' || token === '*';
      const rules = await rulesOf(url, options);
      if (rules.allows(url, isAnybody ? '*' : token)) return;
      throw problem('ResourcePolicyDenyError', {
        path: 'robotsTxt',
        message: 'The robots.txt of the site does not allow this address to be read',
      });
    },
  };
}

interface Downloaded extends Pick<Kept, 'rules' | 'characters'> {
  readonly freshMs: number;
}

const ABSENT: Downloaded = { rules: NO_RULES, characters: 0, freshMs: FRESH_MS };
const unknown = (unknownFor: number | Problem): Downloaded => ({
  rules: { ...NO_RULES, unknownFor },
  characters: 0,
  freshMs: FAILED_FRESH_MS,
});

/** What the start of the file says. */
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
      const text = await startOf(response);
      return { rules: parseRobots(text), characters: text.length, freshMs: FRESH_MS };
    }
    response.discard();
    return status === 429 || status >= 500 ? unknown(status) : ABSENT;
  } catch (error) {
    if (signal?.aborted) throw error;
    if (error instanceof RedirectRefusedError) return ABSENT;
    return unknown(asProblem(error));
  }
}

/** As much as counts; a line that is cut in two there is none. */
async function startOf(response: FetchResponse): Promise<string> {
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
