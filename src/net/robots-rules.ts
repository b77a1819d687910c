/**
 * The rules of a robots.txt (RFC 9309). Written here because a file is matched where everybody waits: whatever its
 * patterns are, the work is bounded by the sizes of file and address.
 */

/** Longer addresses are compared as far as this; patterns that end in `$` do not fit them. */
const MAX_PATH = 2_048;

interface Rule {
  readonly allows: boolean;
  readonly pattern: string;
}

/**
 * Whether an agent may read an address. `agent` is a product token (`Googlebot`, what follows it is passed over), or `*`
 * for whoever is not named. The longest rule that fits decides, and of two as long the one that allows.
 */
export function allows(robotsTxt: string, url: URL, agent: string): boolean {
  if (url.pathname === '/robots.txt') return true;
  const whole = normalised(url.pathname + url.search);
  const path = whole.slice(0, MAX_PATH);
  let best: Rule | undefined;
  for (const rule of rulesFor(robotsTxt, agent)) {
    const { length } = rule.pattern;
    const isBetter = !best || length > best.pattern.length || (length === best.pattern.length && rule.allows);
    if (isBetter && fits(rule.pattern, path, path.length < whole.length)) best = rule;
  }
  return best?.allows ?? true;
}

/** Those of all groups that name the agent; when none does, those for everybody. */
function rulesFor(robotsTxt: string, agent: string): Rule[] {
  const wanted = tokenOf(agent);
  const own: Rule[] = [];
  const general: Rule[] = [];
  let isNamed = false;
  let group: Rule[][] = [];
  let inRules = true;
  for (const line of robotsTxt.replace(/^\ufeff/, '').split(/[\r\n]+/)) {
    const [, key, value = ''] = /^[ \t]*([A-Za-z-]+)[ \t]*:([^#]*)/.exec(line) ?? [];
    const name = key?.toLowerCase();
    if (name === 'user-agent') {
      // Only rules end a list of names: other lines, such as Crawl-delay, are none of this (section 2.2.4).
      if (inRules) group = [];
      inRules = false;
      const token = tokenOf(value.trim());
      if (token === '*') group.push(general);
      else if (token && token === wanted) {
        isNamed = true;
        group.push(own);
      }
    } else if (name === 'allow' || name === 'disallow') {
      inRules = true;
      const pattern = value.trim();
      if (!pattern) continue;
      const rule = { allows: name === 'allow', pattern: normalised(pattern) };
      for (const rules of new Set(group)) rules.push(rule);
    }
  }
  return isNamed ? own : general;
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
function fits(pattern: string, path: string, isCut: boolean): boolean {
  const isAnchored = pattern.endsWith('$');
  if (isAnchored && isCut) return false;
  const pieces = (isAnchored ? pattern.slice(0, -1) : pattern).split('*');
  const first = pieces.shift()!;
  if (!path.startsWith(first)) return false;
  const last = isAnchored ? pieces.pop() : undefined;
  if (isAnchored && last === undefined) return path.length === first.length;
  let at = first.length;
  for (const piece of pieces) {
    const found = path.indexOf(piece, at);
    if (found < 0) return false;
    at = found + piece.length;
  }
  return last === undefined || (path.length - last.length >= at && path.endsWith(last));
}
