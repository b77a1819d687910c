/**
 * Command-line switches that confine the browser to the egress proxy. Each one closes a bypass or disables a background
 * request. flags.test.ts fails if one is removed; confinement.test.ts checks their effect on a real page.
 */

import { DEFAULT_LOCALE, languagesOf } from '../language.ts';

/**
 * Playwright adds its own switches: no component updates, background networking, extensions, sync or crash reports.
 * `proxyHosts` are the hosts of egress proxies, or patterns with `*`; `undefined` if they are not known.
 */
export function confinementFlags(proxyHosts: readonly string[] | undefined): string[] {
  const mayConnect = proxyHosts?.map((host) => ` , EXCLUDE ${host}`).join('');
  return [
    // Otherwise Chromium connects to loopback and link-local addresses directly, bypassing any proxy.
    '--proxy-bypass-list=<-loopback>',
    // Host names are resolved by the proxy. The browser itself does not resolve any, and does not even connect to IP
    // addresses directly.
    ...(mayConnect === undefined ? [] : [`--host-resolver-rules=MAP * ~NOTFOUND${mayConnect}`]),
    // QUIC uses UDP, which an HTTP proxy does not carry.
    '--disable-quic',
    // Chrome in new headless mode uses the first switch, the headless shell the second.
    '--force-webrtc-ip-handling-policy=disable_non_proxied_udp',
    '--webrtc-ip-handling-policy=disable_non_proxied_udp',
    '--dns-prefetch-disable',
    '--no-pings',
    '--disable-domain-reliability',
    '--disable-client-side-phishing-detection',
    '--disable-component-update',
    '--disable-background-networking',
    '--disable-sync',
    '--block-new-web-contents',
    '--deny-permission-prompts',
    '--disable-notifications',
    '--mute-audio',
  ];
}

/**
 * Language of pages without the `locale` option, and of the browser interface, independent of the machine's language.
 */
export const languageFlags = (): string[] => [
  `--lang=${DEFAULT_LOCALE}`,
  `--accept-lang=${languagesOf(DEFAULT_LOCALE).join(',')}`,
];

/**
 * Maximum heap size of a page's scripts, in MB. If it is exceeded, the renderer process exits, which affects only that
 * page.
 */
const SCRIPT_HEAP_MB = 512;

export const limitFlags = (): string[] => [
  `--js-flags=--max-old-space-size=${SCRIPT_HEAP_MB}`,
  '--disk-cache-size=33554432',
];

/**
 * Runs each site of a page in a separate process. This isolates a page from its frames and costs about 30 MB per site.
 */
export const isolationFlags = (isolated: boolean): string[] => (isolated ? ['--site-per-process'] : []);
