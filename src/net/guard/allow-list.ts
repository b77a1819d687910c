/**
 * The `allowNetworks` setting: non-public networks, IP addresses and hosts that may be requested, optionally with a
 * port.
 */
import ipaddr from 'ipaddr.js';
import { isUrl } from '#is-url.ts';
import { type Address, isMetadataAddress, parseAddress } from './ip-address.ts';

export interface AllowList {
  /**
   * Whether an entry matches the IP address or the host name from which it was resolved. `with port` considers only
   * entries that specify the port.
   */
  has(address: Address, port: number, hostname?: string, strictness?: 'with port'): boolean;
  /** Whether an entry matches this host name and port. An entry without a port matches any port. */
  hasName(hostname: string, port: number): boolean;
  /** Whether any entry has this port. */
  hasPort(port: number): boolean;
}

interface Entry {
  readonly port: number | undefined;
  readonly network?: readonly [Address, number];
  /** A single IP address, written without a prefix length. */
  readonly single?: boolean;
  readonly name?: string;
}

/** Throws an Error that names the invalid entry. */
export function parseAllowList(texts: readonly string[]): AllowList {
  const entries = texts
    .map((text) => text.trim())
    .filter(Boolean)
    .map(parseEntry);
  const fits = (entry: Entry, port: number) => entry.port === undefined || entry.port === port;
  return {
    has: (address, port, hostname, strictness) =>
      entries.some((entry) => {
        if (strictness ? entry.port !== port : !fits(entry, port)) return false;
        if (entry.name !== undefined) return entry.name === hostname;
        // A network entry must not include a cloud metadata service by accident. Such a service needs an entry with its
        // exact IP address.
        return contains(entry.network!, address) && (entry.single || !isMetadataAddress(address));
      }),
    hasName: (hostname, port) => entries.some((entry) => entry.name === hostname && fits(entry, port)),
    hasPort: (port) => entries.some((entry) => entry.port === port),
  };
}

const contains = ([base, length]: readonly [Address, number], address: Address) =>
  base.kind() === address.kind() && (address as ipaddr.IPv6).match(base as ipaddr.IPv6, length);

function parseEntry(text: string): Entry {
  if (text.includes('/')) return { port: undefined, network: parseNetwork(text) };
  const address = parseAddress(text);
  if (address) return { port: undefined, network: fullNetwork(address), single: true };
  const withPort = /^(.+):(\d{1,5})$/.exec(text);
  const port = withPort ? Number(withPort[2]) : undefined;
  if (port !== undefined && (port < 1 || port > 65_535)) throw invalidEntry(text);
  const host = withPort ? withPort[1]! : text;
  const withAddress = parseAddress(host);
  if (withAddress) return { port, network: fullNetwork(withAddress), single: true };
  return { port, name: parseName(host, text) };
}

const fullNetwork = (address: Address) => [address, address.kind() === 'ipv4' ? 32 : 128] as const;

function parseNetwork(text: string): readonly [Address, number] {
  if (!ipaddr.IPv6.isValidCIDR(text) && !ipaddr.IPv4.isValidCIDRFourPartDecimal(text)) throw invalidEntry(text);
  const [address, length] = ipaddr.parseCIDR(text);
  if (address instanceof ipaddr.IPv6 && address.isIPv4MappedAddress() && length >= 96) {
    return [address.toIPv4Address(), length - 96];
  }
  return [address, length];
}

function parseName(host: string, text: string): string {
  if (!isUrl(`http://${host}/`)) throw invalidEntry(text);
  const { hostname, host: parsedHost } = new URL(`http://${host}/`);
  // The URL parser converts unusual spellings of IP addresses, and drops paths, queries and user names.
  if (parsedHost !== hostname || parseAddress(hostname) || !/^[a-z0-9_.-]+$/.test(hostname) || /[\\?#@]/.test(host)) {
    throw invalidEntry(text);
  }
  return hostname.replace(/\.$/, '');
}

const invalidEntry = (text: string) =>
  new Error(`"${text}" is not a network (10.0.0.0/8), IP address, host name, or one of the last two with :port`);
