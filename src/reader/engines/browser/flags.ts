/**
 * The switches that keep the browser behind the egress proxy. Each closes a way around it or a call that nobody asked
 * for; flags.test.ts fails when one goes, and confinement.test.ts shows in a real page that they hold.
 */

import { DEFAULT_LOCALE, languagesOf } from '../language.ts';

/** Playwright joins its own: no component update, no background networking, no extensions, no sync, no crash reports. */
export function confinementFlags(proxyHost: string): string[] {
  return [
    // Without it Chromium connects to loopback and link-local addresses directly, past any proxy.
    '--proxy-bypass-list=<-loopback>',
    // The proxy resolves names. Should anything try to connect directly, it finds no host, not even by literal.
    `--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE ${proxyHost}`,
    // QUIC is UDP, which an HTTP proxy does not carry.
    '--disable-quic',
    // The first is read by Chrome and new headless, the second by the headless shell.
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

/** What pages of no particular caller see, and the interface of the browser itself, whatever the machine's language. */
export const languageFlags = (): string[] => [
  `--lang=${DEFAULT_LOCALE}`,
  `--accept-lang=${languagesOf(DEFAULT_LOCALE).join(',')}`,
];

/** The heap of a page's scripts, in MB: over it the renderer ends, which costs that page alone. */
const SCRIPT_HEAP_MB = 512;

export const limitFlags = (): string[] => [
  `--js-flags=--max-old-space-size=${SCRIPT_HEAP_MB}`,
  '--disk-cache-size=33554432',
];

/** A process for each site of a page: a wall more between a page and its frames, for some 30 MB a site. */
export const isolationFlags = (isolated: boolean): string[] => (isolated ? ['--site-per-process'] : []);
