/**
 * Parses and matches robots.txt (RFC 9309). We use our own implementation, because matching runs on the event loop: its
 * cost is bounded for every pattern by the sizes of the file and the URL.
 */
import { isUrl } from '#is-url.ts';

/** Maximum number of characters of a path that are compared. A pattern that ends in `$` does not match longer paths. */
const MAX_PATH = 2_048;
/** Maximum number of rules with `*`, which may scan the whole path. Later ones are ignored. */
const MAX_STARRED_RULES = 3_000;

interface Rule {
  readonly allows: boolean;
  /** Length of the pattern. The longest matching pattern decides. */
  readonly length: number;
  /** The literal parts between the asterisks. */
  readonly pieces: readonly string[];
  readonly isAnchored: boolean;
}

/** The rules of one file. */
export interface RobotsRules {
  /**
   * Whether an agent may request a URL. `agent` is a product token such as `Googlebot` (text after it is ignored), or
   * `*` for agents without their own group. The longest matching rule decides; among rules of equal length, `allow`
   * wins.
   */
  allows(url: URL, agent: string): boolean;
  /**
   * The Crawl-delay for an agent in seconds; undefined if not specified. Crawl-delay is not part of the RFC, but it is
   * widely used.
   */
  crawlDelayS(agent: string): number | undefined;
  /** Absolute URLs of the sitemaps (sitemaps.org), at most 100. */
  readonly sitemaps: readonly string[];
}

export function parseRobots(robotsTxt: string): RobotsRules {
  const { groups, delays, sitemaps } = groupsOf(robotsTxt);
  /** All groups that name the agent, or else the groups for `*`. */
  const groupsFor = (agent: string) => groups.get(tokenOf(agent)) ?? groups.get('*') ?? new Set();
  return {
    crawlDelayS(agent) {
      const found = [...groupsFor(agent)].flatMap((rules) => delays.get(rules) ?? []);
      return found.length ? Math.max(...found.slice(0, MAX_DELAYS)) : undefined;
    },
    sitemaps,
    allows(url, agent) {
      if (url.pathname === '/robots.txt') return true;
      const whole = normalized(url.pathname + url.search);
      const path = whole.slice(0, MAX_PATH);
      let best: Rule | undefined;
      for (const rules of groupsFor(agent)) {
        for (const rule of rules) {
          const isBetter = !best || rule.length > best.length || (rule.length === best.length && rule.allows);
          if (isBetter && matches(rule, path, path.length < whole.length)) best = rule;
        }
      }
      return best?.allows ?? true;
    },
  };
}

interface Groups {
  /** The groups of each agent. Agents of the same group share its rules. */
  readonly groups: ReadonlyMap<string, ReadonlySet<readonly Rule[]>>;
  /** Crawl-delay of each group, in seconds. If there are several values, the last one is used. */
  readonly delays: ReadonlyMap<readonly Rule[], number>;
  readonly sitemaps: readonly string[];
}

/** Maximum number of groups of an agent whose delays are compared. */
const MAX_DELAYS = 1_000;
/** Maximum number and length of sitemap URLs. Further or longer URLs are ignored. */
const MAX_SITEMAPS = 100;
const MAX_SITEMAP_URL = 2_048;

function groupsOf(robotsTxt: string): Groups {
  const groups = new Map<string, Set<Rule[]>>();
  const delays = new Map<readonly Rule[], number>();
  const sitemaps = new Set<string>();
  let group: Rule[] = [];
  let inRules = true;
  let starred = 0;
  for (const line of robotsTxt.replace(/^\ufeff/, '').split(/[\r\n]+/)) {
    const [, key, value = ''] = /^[ \t]*([A-Za-z-]+)[ \t]*:([^#]*)/.exec(line) ?? [];
    const name = key?.toLowerCase();
    if (name === 'user-agent') {
      // Only rules end a list of agents. Other lines, such as Crawl-delay, do not (RFC 9309, section 2.2.4).
      if (inRules) group = [];
      inRules = false;
      const token = tokenOf(value.trim());
      if (token) groups.set(token, (groups.get(token) ?? new Set()).add(group));
    } else if (name === 'allow' || name === 'disallow') {
      inRules = true;
      const pattern = value.trim();
      if (!pattern) continue;
      if (pattern.includes('*') && ++starred > MAX_STARRED_RULES) continue;
      group.push(ruleOf(name === 'allow', normalized(pattern)));
    } else if (name === 'crawl-delay') {
      const seconds = /^\d+(?:\.\d+)?$/.exec(value.trim())?.[0];
      if (seconds !== undefined) delays.set(group, Number(seconds));
    } else if (name === 'sitemap') {
      // A sitemap line belongs to no group. `#` starts a comment, as on all lines.
      const url = value.trim();
      const isValid = url.length <= MAX_SITEMAP_URL && /^https?:/i.test(url) && isUrl(url);
      if (isValid && sitemaps.size < MAX_SITEMAPS) sitemaps.add(url);
    }
  }
  return { groups, delays, sitemaps: [...sitemaps] };
}

function ruleOf(allows: boolean, pattern: string): Rule {
  const isAnchored = pattern.endsWith('$');
  const pieces = (isAnchored ? pattern.slice(0, -1) : pattern).split('*');
  return { allows, length: pattern.length, pieces, isAnchored };
}

/** The product token at the start of an agent's name, in lower case (RFC 9309, section 2.2.1). */
const tokenOf = (text: string): string =>
  /^\*(?![\w-])/.test(text) ? '*' : (/^[A-Za-z_-]+/.exec(text)?.[0].toLowerCase() ?? '');

const UNRESERVED = /[A-Za-z0-9._~-]/;

/** Normalizes percent-encoding, so that equal paths compare as equal (RFC 9309, section 2.2.2). */
const normalized = (text: string): string =>
  text
    .replace(/[^\x21-\x7e]+/gu, (piece) => encodeURIComponent(piece.replace(/\p{Surrogate}/gu, '\ufffd')))
    .replace(/%[0-9a-fA-F]{2}/g, (octet) => {
      const character = String.fromCharCode(Number.parseInt(octet.slice(1), 16));
      return UNRESERVED.test(character) ? character : octet.toUpperCase();
    });

/** Matches a pattern as a prefix. `*` matches any characters; a final `$` matches the end of the path. */
function matches({ pieces, isAnchored }: Rule, path: string, isTruncated: boolean): boolean {
  if (isAnchored && isTruncated) return false;
  const first = pieces[0]!;
  if (!path.startsWith(first)) return false;
  if (isAnchored && pieces.length === 1) return path.length === first.length;
  const middle = isAnchored ? pieces.length - 1 : pieces.length;
  let at = first.length;
  for (let index = 1; index < middle; index++) {
    const found = path.indexOf(pieces[index]!, at);
    if (found < 0) return false;
    at = found + pieces[index]!.length;
  }
  const last = isAnchored ? pieces[middle]! : undefined;
  return last === undefined || (path.length - last.length >= at && path.endsWith(last));
}
