/**
 * The operator's list of blocked hosts and URLs, with one entry per line. `#` starts a comment. A host entry also
 * matches its subdomains. URL patterns contain `*` or a path (docs/guide/network.md, Blocked URLs).
 */
import { isUrl } from '#is-url.ts';
import { bareHostname, portOf } from './url-host.ts';

export interface BlockEntry {
  /** Line number in the file, from 1. */
  readonly line: number;
  readonly text: string;
}

export interface BlockList {
  /** Returns the first entry that blocks a URL, or `undefined`. */
  find(url: URL): BlockEntry | undefined;
  /** Returns the host entry that blocks a host name or IP address (IPv6 with or without brackets) at a port. */
  findHost(hostname: string, port: number): BlockEntry | undefined;
  readonly size: number;
}

export interface ParsedBlockList {
  readonly list: BlockList;
  /** Lines that are not valid entries, with the reason. */
  readonly faults: readonly { readonly line: number; readonly reason: string }[];
}

interface HostEntry extends BlockEntry {
  readonly port: number | undefined;
}

interface Pattern extends BlockEntry {
  /** The text that the pattern must match: the whole URL, or only the path and query of URLs at its host. */
  readonly scope: 'url' | 'path';
  readonly glob: string;
  readonly port: number | undefined;
}

/** Maximum length of an entry, in characters. It limits the time that a match takes. */
const MAX_ENTRY_CHARACTERS = 2_000;

/** Never throws. Lines that are not valid entries are returned as faults. */
export function parseBlockList(text: string): ParsedBlockList {
  const hosts = new Map<string, HostEntry[]>();
  /** Patterns by host. Patterns that match the whole URL have the key ''. */
  const patterns = new Map<string, Pattern[]>();
  const faults: { line: number; reason: string }[] = [];
  let size = 0;
  for (const [at, row] of text
    .replace(/^\ufeff/, '')
    .split(/\r\n|\r|\n/)
    .entries()) {
    const entry = row.replace(/(?:^|\s)#.*$/, '').trim();
    if (!entry) continue;
    const line = at + 1;
    const parsed = parseEntry(entry, line);
    if (typeof parsed === 'string') {
      faults.push({ line, reason: parsed });
      continue;
    }
    size++;
    const { host } = parsed;
    if (parsed.kind === 'host') hosts.set(host, [...(hosts.get(host) ?? []), parsed.entry]);
    else patterns.set(host, [...(patterns.get(host) ?? []), parsed.entry]);
  }
  return { list: createBlockList(hosts, patterns, size), faults };
}

function createBlockList(
  hosts: ReadonlyMap<string, readonly HostEntry[]>,
  patterns: ReadonlyMap<string, readonly Pattern[]>,
  size: number,
): BlockList {
  const findHost = (hostname: string, port: number) => {
    if (!hosts.size) return undefined;
    for (const name of namesOf(hostname)) {
      const found = hosts.get(name)?.find((entry) => entry.port === undefined || entry.port === port);
      if (found) return found;
    }
    return undefined;
  };
  return {
    size,
    findHost,
    find(url) {
      if (!size) return undefined;
      const host = bareHostname(url);
      const port = portOf(url);
      const found = findHost(host, port);
      if (found || !patterns.size) return found;
      const path = normalized(`${url.pathname}${url.search}`);
      const whole = normalized(`${url.protocol}//${host}${url.port && `:${url.port}`}${url.pathname}${url.search}`);
      for (const name of ['', ...namesOf(host)]) {
        for (const pattern of patterns.get(name) ?? []) {
          if (pattern.port !== undefined && pattern.port !== port) continue;
          if (matches(pattern.glob, pattern.scope === 'url' ? whole : path)) return pattern;
        }
      }
      return undefined;
    },
  };
}

/** Yields a host and all its parent domains. */
function* namesOf(hostname: string): Generator<string> {
  let name = hostname
    .replace(/^\[|\]$/g, '')
    .replace(/\.$/, '')
    .toLowerCase();
  yield name;
  if (name.includes(':') || /^[\d.]+$/.test(name)) return;
  for (let dot = name.indexOf('.'); dot >= 0; dot = name.indexOf('.')) {
    name = name.slice(dot + 1);
    yield name;
  }
}

type Parsed =
  | { readonly kind: 'host'; readonly host: string; readonly entry: HostEntry }
  | { readonly kind: 'pattern'; readonly host: string; readonly entry: Pattern };

/** Returns the entry, or the reason why the line is not valid. */
function parseEntry(text: string, line: number): Parsed | string {
  if (text.length > MAX_ENTRY_CHARACTERS) return `is longer than ${MAX_ENTRY_CHARACTERS} characters`;
  if (/\s/.test(text)) return 'contains white space';
  if (/^[*:/?.]*$/.test(text)) return 'matches every URL';
  const scheme = /^([^:/?#]*):\/\//.exec(text)?.[1]?.toLowerCase();
  if (scheme !== undefined && !['http', 'https', '*', 'http*'].includes(scheme)) return 'is not for http or https URLs';
  const base = { line, text };
  if (scheme === undefined) {
    // `*.example.com` means the same as `example.com`.
    const plain = text.replace(/^\*\./, '');
    const slash = plain.search(/[/?]/);
    const authority = slash < 0 ? plain : plain.slice(0, slash);
    if (!authority.includes('*')) {
      const host = parseHost(authority);
      if (!host) return 'has no valid host name';
      if (slash < 0) return { kind: 'host', host: host.name, entry: { ...base, port: host.port } };
      const path = plain.slice(slash);
      const glob = normalized(path.startsWith('/') ? path : `/${path}`);
      return { kind: 'pattern', host: host.name, entry: { ...base, scope: 'path', glob, port: host.port } };
    }
  }
  // A URL without a path matches all paths of its host.
  const isBare = scheme !== undefined && !/[/?*]/.test(text.slice(scheme.length + 3));
  const glob = normalized(text.split('#', 1)[0]!) + (isBare ? '/*' : '');
  return { kind: 'pattern', host: '', entry: { ...base, scope: 'url', glob, port: undefined } };
}

/** Parses a host in the spelling of parsed URLs, and a port if there is one. */
function parseHost(text: string): { readonly name: string; readonly port: number | undefined } | undefined {
  const isBareIpv6 = text.split(':').length > 2 && !text.startsWith('[');
  const address = `http://${isBareIpv6 ? `[${text}]` : text}/`;
  if (!text || /[@\\#%]/.test(text) || !isUrl(address)) return undefined;
  const url = new URL(address);
  const port = /:(\d+)$/.exec(isBareIpv6 ? '' : text)?.[1];
  const name = bareHostname(url).replace(/^\[|\]$/g, '');
  return name ? { name, port: port === undefined ? undefined : Number(port) } : undefined;
}

/** Converts letters to one case, and percent-encoded ASCII characters to one spelling. */
const normalized = (text: string): string =>
  text.replace(/%([2-7][0-9a-f])/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))).toLowerCase();

/** Whether a pattern with `*` matches the whole text. Takes at most `pattern.length * text.length` steps. */
function matches(pattern: string, text: string): boolean {
  let at = 0;
  let star = -1;
  let retry = 0;
  let position = 0;
  while (position < text.length) {
    if (pattern[at] === '*') {
      star = at++;
      retry = position;
    } else if (at < pattern.length && pattern[at] === text[position]) {
      at++;
      position++;
    } else if (star >= 0) {
      at = star + 1;
      position = ++retry;
    } else return false;
  }
  while (pattern[at] === '*') at++;
  return at === pattern.length;
}
