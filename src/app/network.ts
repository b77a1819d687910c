/**
 * Outgoing network access: guarded for URLs that come from callers, unguarded for services that the operator
 * configured, and the egress proxy for browsers.
 */
import { type Config, ConfigError } from '#config.ts';
import type { Lookup } from '#net/connect/dns.ts';
import { createFetch, type GuardedFetch } from '#net/fetch/fetch.ts';
import { type BlockListFile, openBlockListFile } from '#net/guard/block-list-file.ts';
import { type CachedUrlCheck, createCachedUrlCheck } from '#net/guard/cached-url-check.ts';
import { createGuard, type Guard } from '#net/guard/guard.ts';
import { createOwnPorts, type OwnPorts } from '#net/guard/own-ports.ts';
import type { EgressProxy, EgressProxyOptions } from '#net/proxy/egress-proxy.ts';
import { createProxyTable, type ProxyTable } from '#net/proxy/proxy-table.ts';
import { createRegion, type Region } from '#net/region.ts';
import { createRobots, type Robots } from '#net/robots/robots.ts';
import { createTrustedFetch, type TrustedFetch } from '#net/trusted.ts';
import { createRefusalLog, defaultUserAgent, type RefusalLog } from '#reader/index.ts';
import type { Log } from '#telemetry/log.ts';
import { openSpanExport, type SpanExport } from '#telemetry/otlp.ts';
import { chosenBrowser, remoteEgress } from './browser.ts';
import type { CloseStack } from './close-stack.ts';

export interface Network {
  readonly guard: Guard;
  /** Whether a stored copy of a URL may still be returned. */
  readonly mayServeCached: CachedUrlCheck;
  readonly ownPorts: OwnPorts;
  /** Whether a host name is one under which callers reach this server. */
  readonly isOwnHost: (name: string) => boolean;
  /** Host names of this server, besides IP addresses and localhost. */
  readonly ownNames: readonly string[];
  readonly fetch: GuardedFetch;
  readonly trusted: TrustedFetch;
  /** Starts the egress proxy at the first call. `undefined` without a browser: nothing else uses it. */
  readonly openEgress: (() => Promise<EgressProxy>) | undefined;
  readonly refusals: RefusalLog;
  readonly proxies: ProxyTable;
  readonly robots: Robots;
  /** `undefined` if no collector is configured. */
  readonly spanExport: SpanExport | undefined;
}

export interface NetworkParts {
  readonly lookup?: Lookup | undefined;
  readonly version: string;
  readonly log: Log;
}

export async function openNetwork(config: Config, parts: NetworkParts, resources: CloseStack): Promise<Network> {
  const { lookup, log } = parts;
  const ownHost = config.publicUrl && new URL(config.publicUrl).hostname;
  const isOwnHost = (name: string) => name === ownHost;
  const ownPorts = createOwnPorts();
  const blockList = await openBlockList(config, log);
  if (blockList) resources.use(blockList);
  const guard = createGuard({ allow: config.allowNetworks, isOwnHost, ownPorts, blockList, ...(lookup && { lookup }) });
  const regionRules = { region: config.region, euHosts: config.euHosts, log };
  const region = createRegion(regionRules);
  const fetch = resources.use(createFetch({ guard, region }));
  const trusted = resources.use(createTrustedFetch(regionRules));
  const spanExport = await openSpans(config, { ...parts, region });
  if (spanExport) resources.use(spanExport);
  const refusals = createRefusalLog();
  const egressOptions = { guard, region, onRefused: refusals.note, onFailed: refusals.noteFailure };
  const openEgress = egressOpener(config, egressOptions, { ownPorts, resources });
  // Its port is the operator's choice if browsers on other machines connect to it.
  if (remoteEgress(config)) await openEgress?.();
  return {
    guard,
    mayServeCached: createCachedUrlCheck(guard),
    ownPorts,
    isOwnHost,
    ownNames: [config.host, ...(ownHost ? [ownHost] : [])],
    fetch,
    trusted,
    openEgress,
    refusals,
    proxies: createProxyTable(config.proxies, { region }),
    robots: createRobots({ fetch, userAgent: config.userAgent ?? defaultUserAgent() }),
    spanExport,
  };
}

function egressOpener(
  config: Config,
  options: EgressProxyOptions,
  { ownPorts, resources }: { readonly ownPorts: OwnPorts; readonly resources: CloseStack },
): Network['openEgress'] {
  const remote = remoteEgress(config);
  if (!remote && !chosenBrowser(config)) return undefined;
  let opening: Promise<EgressProxy> | undefined;
  resources.defer(async () => (await opening?.catch(() => undefined))?.close());
  const open = async () => {
    const { createEgressProxy } = await import('#net/proxy/egress-proxy.ts');
    const egress = await createEgressProxy({ ...options, remote }).catch(explainListenError);
    ownPorts.add(egress.port);
    if (egress.remote) ownPorts.add(egress.remote.port);
    return egress;
  };
  return () => {
    opening ??= open().catch((error: unknown) => {
      opening = undefined;
      throw error;
    });
    return opening;
  };
}

function explainListenError(error: NodeJS.ErrnoException & { port?: number; address?: string }): never {
  if (error.code === 'EADDRINUSE') throw new ConfigError(`LECTERN_EGRESS_PROXY_PORT: port ${error.port} is in use`);
  if (error.code === 'EADDRNOTAVAIL')
    throw new ConfigError(`LECTERN_EGRESS_PROXY_HOST: ${error.address} is not an address of this machine`);
  throw error;
}

/** The operator's block list; `undefined` if there is none. Throws ConfigError if its file cannot be read. */
export async function openBlockList(
  { blockedUrlsFile: file }: Pick<Config, 'blockedUrlsFile'>,
  log: Log,
): Promise<BlockListFile | undefined> {
  if (file === undefined) return undefined;
  try {
    return await openBlockListFile(file, log);
  } catch {
    throw new ConfigError(`blockedUrlsFile: ${file} cannot be read as text`);
  }
}

async function openSpans(
  { otlpUrl: url, otlpHeaders: headers, otlpSampleRatio: sampleRatio, otlpService: service }: Config,
  { region, version, log }: NetworkParts & { readonly region: Region },
): Promise<SpanExport | undefined> {
  if (url === undefined) return undefined;
  if (!region.allows(new URL(url))) throw new ConfigError('otlpUrl: its host is not in euHosts');
  return openSpanExport({ url, headers, sampleRatio, service, version, log });
}
