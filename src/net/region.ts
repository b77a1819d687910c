/**
 * Enforces the `region` setting. With `eu`, only services and proxies that the operator marked as inside the EU are
 * used. Each use is checked here, and the host is logged.
 */
import { problem } from '#errors.ts';
import { bareHostname, portOf } from './guard/guard.ts';
import { OperatorProxy } from './proxy/proxy-table.ts';

export interface RegionOptions {
  readonly region: 'any' | 'eu';
  /** Hosts inside the EU, as `host` or `host:port`. */
  readonly euHosts: readonly string[];
  readonly log: RegionLog;
}

export interface RegionLog {
  info(facts: object, message: string): void;
  warn(facts: object, message: string): void;
}

export interface Region {
  /** Whether the service or proxy may be used. */
  allows(url: URL): boolean;
  /** Throws DownstreamServiceFailureError if the service or proxy must not be used. Allowed hosts are logged once. */
  require(url: URL, what: 'service' | 'proxy'): void;
}

/** Maximum number of hosts that are remembered as logged. Further hosts may be logged repeatedly. */
const MAX_LOGGED = 1_000;

export function createRegion({ region, euHosts, log }: RegionOptions): Region {
  const marked = new Set(euHosts.map((text) => text.trim().toLowerCase().replace(/\.$/, '')));
  const logged = new Set<string>();

  const isMarked = (url: URL) =>
    (url instanceof OperatorProxy && url.eu) || marked.has(bareHostname(url)) || marked.has(hostAndPort(url));
  const allows = (url: URL) => region === 'any' || isMarked(url);

  return {
    allows,
    require(url, what) {
      const allowed = allows(url);
      // Proxies of callers are private data and must not be logged.
      const host = what === 'proxy' && !(url instanceof OperatorProxy) ? 'named by a caller' : hostAndPort(url);
      const facts = { host, region: isMarked(url) ? 'eu' : 'not marked', kept: region };
      const key = `${what} ${host} ${allowed}`;
      if (!logged.has(key)) {
        if (logged.size >= MAX_LOGGED) logged.clear();
        logged.add(key);
        if (allowed) log.info(facts, `${what} used`);
      }
      if (allowed) return;
      log.warn(facts, `${what} refused: not marked as inside the EU`);
      throw problem('DownstreamServiceFailureError', {
        ...(what === 'proxy' && { path: 'proxyUrl' }),
        message: `The ${what} is not inside the EU, and this server uses only services and proxies inside the EU. The operator can list hosts inside the EU in LECTERN_EU_HOSTS`,
      });
    },
  };
}

const hostAndPort = (url: URL) => `${bareHostname(url)}:${portOf(url)}`;
