/**
 * The operator's list of hosts whose resources the browser does not load, such as those of ads and trackers. Three
 * common formats are read: hosts files, lists of domains, and the rules of filter lists that name a whole host.
 */
import { domainToASCII } from 'node:url';
import { getDomain } from 'tldts';
import { openWatchedFile } from '#net/guard/watched-file.ts';

export interface ResourceList {
  /** Whether a page does not load a resource. A page loads all resources of its own site. */
  blocks(resourceUrl: string, pageUrl: string): boolean;
}

export interface ResourceListFile extends ResourceList {
  /** Stops watching the file. */
  close(): Promise<void>;
}

export interface ResourceListLog {
  info(facts: object, message: string): void;
  warn(facts: object, message: string): void;
}

/**
 * Throws if the file cannot be read as text at the start. It is read again when it changes; while it cannot be read,
 * the old list stays in use.
 */
export async function openResourceList(file: string, log: ResourceListLog): Promise<ResourceListFile> {
  const read = (text: string) => {
    const { hosts, ignored, list } = parseResourceList(text);
    // Filter lists consist mostly of rules about paths and elements, so these are counted, not listed.
    log.info({ hosts, ignored }, 'list of resources that the browser does not load read');
    return list;
  };
  const watched = await openWatchedFile(file, read, (error) =>
    log.warn(
      { code: (error as NodeJS.ErrnoException).code },
      'the list of resources that the browser does not load cannot be read; the old list stays in use',
    ),
  );
  return { blocks: (resource, page) => watched.current().blocks(resource, page), close: watched.close };
}

export interface ParsedResourceList {
  readonly list: ResourceList;
  /** Number of hosts. */
  readonly hosts: number;
  /** Number of lines that are neither comments nor entries that can be used. */
  readonly ignored: number;
}

type Scope = 'host' | 'subdomains';

interface Entry {
  readonly host: string;
  /** Whether the entry also stands for the subdomains of the host. */
  readonly scope: Scope;
  readonly isException?: boolean;
}

export function parseResourceList(text: string): ParsedResourceList {
  const scopes = new Map<string, Scope>();
  const exceptions = new Map<string, Scope>();
  let ignored = 0;
  for (const line of text.split('\n')) {
    const entries = entriesOf(line.trim());
    if (!entries) ignored++;
    for (const { host, scope, isException } of entries ?? []) {
      const scopesOf = isException ? exceptions : scopes;
      if (scopesOf.get(host) !== 'subdomains') scopesOf.set(host, scope);
    }
  }
  const blocks = (resourceUrl: string, pageUrl: string): boolean => {
    const { hostname } = new URL(resourceUrl);
    return includes(scopes, hostname) && !includes(exceptions, hostname) && !isSameSite(resourceUrl, pageUrl);
  };
  return { list: { blocks }, hosts: scopes.size, ignored };
}

const COMMENT = /^(?:$|#(?![#@?$])|!|\[)/;
/** A rule for a whole host. Of the options of such rules, these do not narrow it further. */
const FILTER_RULE = /^(@@)?\|\|([^/^*|$]+)\^?\|?(?:\$(?:third-party|3p|all|important|,)+)?$/;
const ADDRESS = /^(?:\d{1,3}(?:\.\d{1,3}){3}|[\da-f]*:[\da-f:]*)$/i;

/** The entries of one line; `undefined` if the line cannot be used. */
function entriesOf(line: string): Entry[] | undefined {
  if (COMMENT.test(line)) return [];
  const rule = FILTER_RULE.exec(line);
  if (rule) {
    const host = hostOf(rule[2]!);
    return host === undefined ? undefined : [{ host, scope: 'subdomains', isException: rule[1] !== undefined }];
  }
  const [first = '', ...rest] = line.replace(/\s#.*$/, '').split(/\s+/);
  // A hosts file gives the address first. Its entries stand for exactly one host.
  if (ADDRESS.test(first) && rest.length) {
    return rest.flatMap((name) => {
      const host = hostOf(name);
      return host === undefined ? [] : [{ host, scope: 'host' as const }];
    });
  }
  const host = rest.length ? undefined : hostOf(first.replace(/^\*?\./, ''));
  return host === undefined ? undefined : [{ host, scope: 'subdomains' }];
}

/** The host name as it is in URLs; `undefined` for names without a dot, such as `localhost`, and for other text. */
function hostOf(name: string): string | undefined {
  // The parser of host names drops what follows a `#` or `/`.
  if (/[^\p{L}\p{M}\p{N}._-]/u.test(name)) return undefined;
  const host = domainToASCII(name.replace(/\.$/, ''));
  return /^(?:[\w-]+\.)+[\w-]+$/.test(host) && !ADDRESS.test(host) ? host : undefined;
}

function includes(scopes: ReadonlyMap<string, Scope>, hostname: string): boolean {
  if (scopes.has(hostname)) return true;
  for (let at = hostname.indexOf('.'); at >= 0; at = hostname.indexOf('.', at + 1)) {
    if (scopes.get(hostname.slice(at + 1)) === 'subdomains') return true;
  }
  return false;
}

function isSameSite(one: string, other: string): boolean {
  const [site, otherSite] = [one, other].map((url) => getDomain(url, { allowPrivateDomains: true }));
  return site !== null && site === otherSite;
}
