/**
 * The rules of a robots.txt (RFC 9309). Written here because a file is matched where everybody waits: whatever its
 * patterns are, the work is bounded by the sizes of file and address.
 */

/** Longer addresses are compared as far as this; patterns that end in `$` do not fit them. */
const MAX_PATH = 2_048;
/** Each of them may be looked for in the whole address. Those that come later in a file do not count. */
const MAX_STARRED_RULES = 3_000;

interface Rule {
  readonly allows: boolean;
  /** Of the pattern: the longest that fits decides. */
  readonly length: number;
  /** What stands between the stars. */
  readonly pieces: readonly string[];
  readonly isAnchored: boolean;
}

/** The rules of one file. */
export interface RobotsRules {
  /**
   * Whether an agent may read an address. `agent` is a product token (`Googlebot`, what follows it is passed over), or
   * `*` for whoever is not named. The longest rule that fits decides, and of two as long the one that allows.
   */
  allows(url: URL, agent: string): boolean;
  /**
   * How long the agent is to wait from one request to the next, in s; undefined when the file does not say. No part of
   * the RFC, but widely written.
   */
  crawlDelayS(agent: string): number | undefined;
  /** Absolute addresses of the site's sitemaps (sitemaps.org), as many as anybody needs. */
  readonly sitemaps: readonly string[];
}

export function parseRobots(robotsTxt: string): RobotsRules {
  const { groups, delays, sitemaps } = groupsOf(robotsTxt);
  /** All groups that name the agent; when none does, those for everybody. */
  const groupsFor = (agent: string) => groups.get(tokenOf(agent)) ?? groups.get('*') ?? new Set();
  return {
    crawlDelayS(agent) {
      const found = [...groupsFor(agent)].flatMap((rules) => delays.get(rules) ?? []);
      return found.length ? Math.max(...found.slice(0, MAX_DELAYS)) : undefined;
    },
    sitemaps,
    allows(url, agent) {
      if (url.pathname === '/robots.txt') return true;
      const whole = normalised(url.pathname + url.search);
      const path = whole.slice(0, MAX_PATH);
      let best: Rule | undefined;
      for (const rules of groupsFor(agent)) {
        for (const rule of rules) {
          const isBetter = !best || rule.length > best.length || (rule.length === best.length && rule.allows);
          if (isBetter && fits(rule, path, path.length < whole.length)) best = rule;
        }
      }
      return best?.allows ?? true;
    },
  };
}

interface Groups {
  /** The rules of each group, by the agents that it names: a group of many names and many rules is kept once. */
  readonly groups: ReadonlyMap<string, ReadonlySet<readonly Rule[]>>;
  /** In s, by group; the last word counts. */
  readonly delays: ReadonlyMap<readonly Rule[], number>;
  readonly sitemaps: readonly string[];
}

/** Groups of one agent whose delays count. */
const MAX_DELAYS = 1_000;
/** Longer lists and addresses nobody needs. */
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
      // Only rules end a list of names: other lines, such as Crawl-delay, are none of this (section 2.2.4).
      if (inRules) group = [];
      inRules = false;
      const token = tokenOf(value.trim());
      if (token) groups.set(token, (groups.get(token) ?? new Set()).add(group));
    } else if (name === 'allow' || name === 'disallow') {
      inRules = true;
      const pattern = value.trim();
      if (!pattern) continue;
      if (pattern.includes('*') && ++starred > MAX_STARRED_RULES) continue;
      group.push(ruleOf(name === 'allow', normalised(pattern)));
    } else if (name === 'crawl-delay') {
      const seconds = /^\d+(?:\.\d+)?$/.exec(value.trim())?.[0];
      if (seconds !== undefined) delays.set(group, Number(seconds));
    } else if (name === 'sitemap') {
      // Of no group, wherever it stands; a sign of a fragment ends it as it ends every value.
      const address = value.trim();
      const isFit = address.length <= MAX_SITEMAP_URL && /^https?:/i.test(address) && URL.canParse(address);
      if (isFit && sitemaps.size < MAX_SITEMAPS) sitemaps.add(address);
    }
  }
  return { groups, delays, sitemaps: [...sitemaps] };
}

function ruleOf(allows: boolean, pattern: string): Rule {
  const isAnchored = pattern.endsWith('$');
  const pieces = (isAnchored ? pattern.slice(0, -1) : pattern).split('*');
  return { allows, length: pattern.length, pieces, isAnchored };
}

/** The product token at the start, in lower case (section 2.2.1). */
const tokenOf = (text: string): string =>
  /^\*(?![\w-])/.test(text) ? '*' : (/^[A-Za-z_-]+/.exec(text)?.[0].toLowerCase() ?? '');

const UNRESERVED = /[A-Za-z0-9._~-]/;

/** One spelling for each octet, so that equal addresses compare as equal (section 2.2.2). */
const normalised = (text: string): string =>
  text
    .replace(/[^\x21-\x7e]+/gu, (piece) => encodeURIComponent(piece.replace(/\p{Surrogate}/gu, '\ufffd')))
    .replace(/%[0-9a-fA-F]{2}/g, (octet) => {
      const character = String.fromCharCode(Number.parseInt(octet.slice(1), 16));
      return UNRESERVED.test(character) ? character : octet.toUpperCase();
    });

/** `*` is any run of characters, `$` at the end the end of the address; else a pattern fits what begins with it. */
function fits({ pieces, isAnchored }: Rule, path: string, isCut: boolean): boolean {
  if (isAnchored && isCut) return false;
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
