/**
 * The guard decides whether a URL chosen by a caller may be requested. Each URL is parsed once, and each name is
 * resolved once. Connections must go to the IP addresses that the guard returns.
 */
import { Problem, problem } from '#errors.ts';
import { createLookup, type Lookup } from '../connect/dns.ts';
import { parseAllowList } from './allow-list.ts';
import type { BlockList } from './block-list.ts';
import { isPublicAddress, parseAddress } from './ip-address.ts';
import type { OwnPorts } from './own-ports.ts';
import { bareName, portOf } from './url-host.ts';

export { bareHostname, portOf } from './url-host.ts';

export interface Resolved {
  readonly address: string;
  readonly family: 4 | 6;
}

export interface Guard {
  /** Whether connections to this IP address and port are allowed. The IP address was resolved from `hostname`. */
  allowed(address: string, port: number, hostname?: string): boolean;
  /**
   * Checks the URL's scheme, port, and IP address or host name, and looks it up in the operator's block list. Does not
   * use DNS. Throws a Problem.
   */
  checkUrl(url: URL): void;
  /** Whether the operator's block list contains the URL. */
  blocks(url: URL): boolean;
  /**
   * Resolves a host (name or IP address, as in a parsed URL) and checks all its IP addresses. Throws
   * SecurityCompromiseError if it is not allowed, HarmfulContentError if it is on the block list, ParamValidationError
   * with `path` set to `url` if it does not exist, and AssertionFailureError if DNS did not respond.
   */
  resolve(hostname: string, port: number, signal?: AbortSignal): Promise<Resolved[]>;
}

export interface GuardOptions {
  /** Entries of LECTERN_ALLOW_NETWORKS: CIDR, IP address, host name, `host:port`, `ipv4:port` or `[ipv6]:port`. */
  readonly allow?: readonly string[];
  /** Host names that are always refused, such as those of this server. */
  readonly isOwnHost?: (hostname: string) => boolean;
  /** Ports of this server, which are always refused. */
  readonly ownPorts?: OwnPorts;
  /** URLs that the operator blocks. */
  readonly blockList?: Pick<BlockList, 'find' | 'findHost'> | undefined;
  readonly lookup?: Lookup;
  readonly lookupTimeoutMs?: number;
}

/** Every refusal uses this message, so that it reveals nothing about the internal network. */
export const refusal = () =>
  problem('SecurityCompromiseError', { path: 'url', message: 'Access to this URL is not allowed' });

/** The message does not name the entry, so that callers cannot find out what is on the list. */
export const blockedProblem = () => problem('HarmfulContentError', { path: 'url' });

/** Whether the guard refused the URL. A retry or another engine would not help. */
export const isGuardRefusal = (error: unknown): error is Problem =>
  error instanceof Problem && (error.name === 'SecurityCompromiseError' || error.name === 'HarmfulContentError');

/** Throws an Error for an invalid entry of `allow`. */
export function createGuard(options: GuardOptions = {}): Guard {
  const { isOwnHost, ownPorts, blockList, lookup = createLookup(), lookupTimeoutMs = 10_000 } = options;
  const allow = parseAllowList(options.allow ?? []);

  const allowed = (address: string, port: number, hostname?: string): boolean => {
    const parsed = parseAddress(address);
    if (!parsed || !isPort(port) || ownPorts?.has(parsed, port)) return false;
    const name = hostname === undefined ? undefined : bareName(hostname);
    return BAD_PORTS.has(port)
      ? allow.has(parsed, port, name, 'with port')
      : isPublicAddress(parsed) || allow.has(parsed, port, name);
  };

  const checkName = (hostname: string, port: number) => {
    if (!isName(hostname)) throw noSuchName();
    const name = bareName(hostname);
    if (isOwnHost?.(name)) throw refusal();
    if (!isPort(port) || (BAD_PORTS.has(port) && !allow.hasPort(port))) throw refusal();
    if (isLocalName(name) && !allow.hasName(name, port)) throw refusal();
  };

  return {
    allowed,
    checkUrl(url) {
      if (!isHttp(url)) throw notHttp();
      const port = portOf(url);
      if (!parseAddress(url.hostname)) checkName(url.hostname, port);
      else if (isOwnHost?.(url.hostname) || !allowed(url.hostname, port)) throw refusal();
      if (blockList?.find(url)) throw blockedProblem();
    },
    blocks: (url) => blockList?.find(url) !== undefined,
    async resolve(hostname, port, signal) {
      signal?.throwIfAborted();
      const literal = parseAddress(hostname);
      if (literal) {
        const address = literal.toString();
        if (isOwnHost?.(hostname) || !allowed(address, port)) throw refusal();
        if (blockList?.findHost(address, port)) throw blockedProblem();
        return [{ address, family: literal.kind() === 'ipv4' ? 4 : 6 }];
      }
      checkName(hostname, port);
      if (blockList?.findHost(hostname, port)) throw blockedProblem();
      const found = await lookUp(lookup, bareName(hostname), lookupTimeoutMs, signal);
      if (!found.length) throw noSuchName();
      if (!found.every(({ address }) => allowed(address, port, hostname))) throw refusal();
      if (found.some(({ address }) => blockList?.findHost(address, port))) throw blockedProblem();
      return found.map(({ address, family }) => ({ address, family: family === 6 ? 6 : 4 }));
    },
  };
}

const isPort = (port: number) => Number.isInteger(port) && port > 0 && port < 65_536;

/** Whether the name has at most 253 characters plus a trailing dot (RFC 1035, section 2.3.4), and no empty labels. */
const isName = (hostname: string) => hostname.length <= 254 && !hostname.includes('..');

export const isHttp = ({ protocol }: URL): boolean => protocol === 'http:' || protocol === 'https:';

/** The problem for a URL that is not http or https. `targetStatus` is the status of the redirect that led to it. */
export const notHttp = (facts: { readonly targetStatus?: number } = {}) =>
  problem('ParamValidationError', { ...facts, path: 'url', message: 'Only http and https URLs can be read' });

const noSuchName = () => problem('ParamValidationError', { path: 'url', message: 'The host name does not exist' });

/**
 * Domains that always refer to this machine or its network (RFC 6761, RFC 6762, RFC 8375). Other private names (a
 * single label, `.lan`) are checked by their IP addresses.
 */
const LOCAL_SUFFIXES = ['localhost', 'local', 'localdomain', 'internal', 'home.arpa'];
const LOCAL_NAMES = new Set(['metadata', 'instance-data', 'rancher-metadata', 'ip6-localhost', 'ip6-loopback']);
/**
 * Cloud metadata services, from the providers' documentation. Some have public IP addresses, so their names are checked
 * too.
 */
const METADATA_HOSTS = [
  'metadata.cloud.ibm.com',
  'metadata.exoscale.com',
  'metadata.goog',
  'metadata.packet.net',
  'metadata.platformequinix.com',
  'metadata.tencentyun.com',
];
const REFUSED_DOMAINS = [...LOCAL_SUFFIXES, ...METADATA_HOSTS];
const isLocalName = (name: string) =>
  LOCAL_NAMES.has(name) || REFUSED_DOMAINS.some((domain) => name === domain || name.endsWith(`.${domain}`));

async function lookUp(lookup: Lookup, name: string, timeoutMs: number, signal: AbortSignal | undefined) {
  let stop: (() => void) | undefined;
  let timer: NodeJS.Timeout | undefined;
  // A call to the system resolver cannot be aborted, so its result is ignored.
  const interrupted = new Promise<never>((_, reject) => {
    stop = () => reject(signal!.reason);
    signal?.addEventListener('abort', stop, { once: true });
    timer = setTimeout(() => reject(lookupFailed()), timeoutMs);
  });
  try {
    return await Promise.race([lookup(name), interrupted]);
  } catch (error) {
    if (error instanceof Problem || error === signal?.reason) throw error;
    const { code } = error as NodeJS.ErrnoException;
    throw code && NO_SUCH_NAME.has(code) ? noSuchName() : lookupFailed(error);
  } finally {
    clearTimeout(timer);
    if (stop) signal?.removeEventListener('abort', stop);
  }
}

const NO_SUCH_NAME = new Set(['ENOTFOUND', 'ENODATA', 'EAI_NONAME', 'EAI_NODATA']);

const lookupFailed = (cause?: unknown) =>
  problem('AssertionFailureError', { message: 'The host name could not be resolved' }, cause);

/** Ports that browsers block (Fetch standard, "Port blocking"). */
const BAD_PORTS = new Set([
  1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104, 109, 110,
  111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515, 526, 530, 531, 532,
  540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061,
  6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080,
]);
