/**
 * Where processing may happen. In region `eu` only services and proxies that the operator marked as inside the EU are
 * asked; every way to one of them goes through here, and the log shows what was let through and what was not.
 */
import { problem } from '#errors.ts';
import { bareHostname, portOf } from './guard/guard.ts';
import { OperatorProxy } from './proxy/proxy-table.ts';

export interface RegionOptions {
  readonly region: 'any' | 'eu';
  /** Hosts, or `host:port`, that are inside the EU. */
  readonly euHosts: readonly string[];
  readonly log: RegionLog;
}

export interface RegionLog {
  info(facts: object, message: string): void;
  warn(facts: object, message: string): void;
}

export interface Region {
  /** Whether this may be asked. */
  allows(url: URL): boolean;
  /** Throws DownstreamServiceFailureError when it may not; each host is logged once. */
  require(url: URL, what: 'service' | 'proxy'): void;
}

/** Enough for any operator; what is beyond is logged again. */
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
      // What a caller names is the caller's own affair and stays out of the log.
      const host = what === 'proxy' && !(url instanceof OperatorProxy) ? 'named by a caller' : hostAndPort(url);
      const facts = { host, region: isMarked(url) ? 'eu' : 'not marked', kept: region };
      const key = `${what} ${host} ${allowed}`;
      if (!logged.has(key)) {
        if (logged.size >= MAX_LOGGED) logged.clear();
        logged.add(key);
        if (allowed) log.info(facts, `a ${what} is used`);
      }
      if (allowed) return;
      log.warn(facts, `a ${what} was refused: it is not marked as inside the EU`);
      throw problem('DownstreamServiceFailureError', {
        ...(what === 'proxy' && { path: 'proxyUrl' }),
        message: `The ${what} is not inside the EU, which this server keeps to`,
      });
    },
  };
}

const hostAndPort = (url: URL) => `${bareHostname(url)}:${portOf(url)}`;
