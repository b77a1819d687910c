/** The key under which rate limits count a caller without an API key. */
import ipaddr from 'ipaddr.js';
import { parseAddress } from '#net/guard/ip-address.ts';

/**
 * Prefix length of the smallest IPv6 network that a provider assigns to a customer (RFC 6177). The customer can use any
 * IP address in it.
 */
const CUSTOMER_BITS = 64;

/** Some proxies add the port: `192.0.2.1:443`, `[2001:db8::1]:443`. */
const WITH_PORT = /^(?:\[([^\]]*)\]|(\d+(?:\.\d+){3}))(?::\d+)?$/;

/**
 * Returns an IPv4 address unchanged, even if it is written as IPv6. For an IPv6 address, returns its /64 network. For
 * any other text, returns `unknown`.
 */
export function limiterKeyOf(clientIp: string): string {
  const bare = clientIp.replace(WITH_PORT, '$1$2').replace(/%.*$/, '');
  const parsed = parseAddress(bare);
  if (!parsed) return 'unknown';
  if (parsed instanceof ipaddr.IPv4) return parsed.toString();
  const network = ipaddr.IPv6.networkAddressFromCIDR(`${parsed.toString()}/${CUSTOMER_BITS}`);
  return `${network.toString()}/${CUSTOMER_BITS}`;
}
