/** Which callers without a key are counted as one. */
import ipaddr from 'ipaddr.js';
import { parseAddress } from '#net/guard/ip-address.ts';

/** Bits of an IPv6 address that one customer is given (RFC 6177): whoever has one address there has them all. */
const CUSTOMER_BITS = 64;

/** As some proxies write it: `192.0.2.1:443`, `[2001:db8::1]:443`. */
const WITH_PORT = /^(?:\[([^\]]*)\]|(\d+(?:\.\d+){3}))(?::\d+)?$/;

/** The address that is counted: an IPv4 one as it is, also when it is written as IPv6; of IPv6 the /64 network. */
export function limiterKeyOf(address: string): string {
  const bare = address.replace(WITH_PORT, '$1$2').replace(/%.*$/, '');
  const parsed = parseAddress(bare);
  if (!parsed) return 'unknown';
  if (parsed instanceof ipaddr.IPv4) return parsed.toString();
  const network = ipaddr.IPv6.networkAddressFromCIDR(`${parsed.toString()}/${CUSTOMER_BITS}`);
  return `${network.toString()}/${CUSTOMER_BITS}`;
}
