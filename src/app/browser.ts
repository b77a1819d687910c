/** The browsers that the settings select: one that this server launches, or browsers on other machines. */
import { type Config, ConfigError } from '#config.ts';
import type { RemoteEgressOptions } from '#net/proxy/egress-proxy.ts';
import { createRegion } from '#net/region.ts';
import { findBrowser, parseRemoteAddress, type RemoteAddress } from '#reader/index.ts';

/** Returns null if there is none. Throws ConfigError if the configured browser cannot be run. */
export function chosenBrowser({ browser: configured, dataDir }: Pick<Config, 'browser' | 'dataDir'>) {
  const found = findBrowser({ configured, dataDir });
  if (!found && configured !== undefined && configured !== 'none')
    throw new ConfigError(
      `LECTERN_BROWSER: ${configured} is not a program that can be run: set the path of Chromium or Chrome, or \`none\``,
    );
  return found;
}

/** The pool logs which browsers are used. */
const NO_LOG = { info() {}, warn() {} };

/** Browsers on other machines; empty if none are configured. Throws ConfigError. */
export function remoteBrowsers({ browserUrl, region, euHosts }: Config): RemoteAddress[] {
  const addresses = browserUrl.map((text) => {
    try {
      return parseRemoteAddress(text);
    } catch (error) {
      throw new ConfigError(`LECTERN_BROWSER_URL: ${(error as Error).message}`);
    }
  });
  const { allows } = createRegion({ region, euHosts, log: NO_LOG });
  const outside = addresses.find(({ url }) => !allows(new URL(url)));
  if (outside) throw new ConfigError(`LECTERN_BROWSER_URL: ${outside.name} is not in LECTERN_EU_HOSTS`);
  return addresses;
}

/** Whether requests that must stay inside the EU may use the browsers. */
export const areBrowsersInsideEu = (config: Config): boolean => {
  const { allows } = createRegion({ region: 'eu', euHosts: config.euHosts, log: NO_LOG });
  return remoteBrowsers(config).every(({ url }) => allows(new URL(url)));
};

/** Where the egress proxy listens for browsers on other machines; `undefined` without such browsers. */
export function remoteEgress(config: Config): RemoteEgressOptions | undefined {
  if (!remoteBrowsers(config).length) return undefined;
  const { egressProxyHost: host, egressProxyPort: port, egressProxyUrl: url } = config;
  if (host === undefined) {
    throw new ConfigError(
      'LECTERN_BROWSER_URL: requires LECTERN_EGRESS_PROXY_HOST, because the browsers may only use the egress proxy',
    );
  }
  if (url === undefined && ['0.0.0.0', '::'].includes(host)) {
    throw new ConfigError(
      `LECTERN_EGRESS_PROXY_URL: must be set, because browsers cannot connect to ${host} (LECTERN_EGRESS_PROXY_HOST)`,
    );
  }
  return { host, port, url: url?.replace(/\/$/, '') };
}
