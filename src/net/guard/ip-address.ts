/**
 * Decides which IP addresses are public. It does not use a list of forbidden ranges: an IP address is public only if it
 * is global unicast, and if every IPv4 address embedded in it is public too (IANA special-purpose address registries,
 * from ipaddr.js).
 */
import ipaddr from 'ipaddr.js';

export type Address = ipaddr.IPv4 | ipaddr.IPv6;

/**
 * Parses an IP address; returns undefined if the text is not one. An IPv4-mapped IPv6 address becomes the IPv4 address
 * that sockets connect to.
 */
export function parseAddress(text: string): Address | undefined {
  const bare = text.startsWith('[') && text.endsWith(']') ? text.slice(1, -1) : text;
  if (!ipaddr.IPv6.isValid(bare) && !ipaddr.IPv4.isValidFourPartDecimal(bare)) return undefined;
  return ipaddr.process(bare);
}

/**
 * IP addresses of cloud metadata services, which reveal credentials. Most are in non-public ranges anyway. The list
 * blocks them even if an operator allows a network that contains them.
 */
const METADATA = [
  '168.63.129.16',
  '169.254.0.23',
  '169.254.42.42',
  '169.254.169.254',
  '169.254.170.2',
  '169.254.170.23',
  '100.100.100.200',
  '192.0.0.192',
  'fd00:ec2::254',
  'fd00:ec2::23',
  'fd20:ce::254',
  'fd00:42::42',
  'fd00:a9fe:a9fe::1',
  'fd00:c1::a9fe:a9fe',
  'fe80::a9fe:a9fe',
];
const METADATA_NAMES = new Set(METADATA.map((text) => ipaddr.parse(text).toNormalizedString()));

export const isMetadataAddress = (address: Address): boolean => METADATA_NAMES.has(address.toNormalizedString());

export function isPublicAddress(address: Address): boolean {
  if (isMetadataAddress(address)) return false;
  if (address instanceof ipaddr.IPv4) return address.range() === 'unicast';
  const [first, second] = address.parts as [number, number];
  // Networks without IPv4 reach the IPv4 internet through the well-known NAT64 prefix. The prefix 64:ff9b:1::/48 is for
  // local use (RFC 8215) and remains refused.
  if (first === 0x64 && second === 0xff9b && address.parts.slice(2, 6).every((part) => part === 0)) {
    return isPublicAddress(embeddedAt(address, 6));
  }
  // Global unicast is 2000::/3; everything else is unassigned or not for the internet (RFC 4291, section 4).
  if (first >> 13 !== 1 || address.range() !== 'unicast') return false;
  return !isIsatap(address) || isPublicAddress(embeddedAt(address, 6));
}

/** ISATAP (RFC 5214): the interface identifier is 0000:5efe or 0200:5efe, followed by an IPv4 address. */
const isIsatap = ({ parts }: ipaddr.IPv6) => parts[5] === 0x5efe && (parts[4]! & 0xfdff) === 0;

const embeddedAt = ({ parts }: ipaddr.IPv6, part: number) => {
  const [high, low] = [parts[part]!, parts[part + 1]!];
  return new ipaddr.IPv4([high >> 8, high & 0xff, low >> 8, low & 0xff]);
};
