/**
 * Resolves untrusted host names. The system resolver blocks threads of libuv's small pool, so two names with
 * unresponsive DNS servers would delay all other lookups. Public names are therefore resolved by c-ares on the event
 * loop; only local names use the system resolver.
 */
import { lookup as askSystem, Resolver } from 'node:dns/promises';
import { readFile } from 'node:fs/promises';
import { parse } from 'tldts';
import { DeadlineExceededError, within } from '#concurrency/deadline.ts';

/** Resolves a host name to all its IP addresses. Rejects with an error that has a `code` from `node:dns`. */
export type Lookup = (hostname: string) => Promise<readonly { readonly address: string; readonly family: number }[]>;

export interface LookupOptions {
  /** DNS servers as `address:port`. Default: the system's DNS servers. */
  readonly servers?: readonly string[];
  /** Timeout of the first attempt; the second attempt has twice as long. Default: 2.5 s. */
  readonly tryTimeoutMs?: number;
  /** The system resolver, which uses the hosts file and search domains. */
  readonly system?: Lookup;
}

/** How long to wait for IPv6 addresses after the IPv4 addresses have arrived. */
const IPV6_WAIT_MS = 1_000;

export function createLookup(options: LookupOptions = {}): Lookup {
  const { servers, tryTimeoutMs = 2_500, system = (name) => askSystem(name, { all: true, verbatim: true }) } = options;
  const resolver = new Resolver({ timeout: tryTimeoutMs, tries: 2 });
  if (servers) resolver.setServers(servers);
  let hosts: Promise<ReadonlySet<string>> | undefined;

  return async (name) => {
    hosts ??= hostsFileNames();
    const isLocal = !name.includes('.') || !parse(name).isIcann || (await hosts).has(name);
    if (isLocal) return system(name);
    try {
      return await resolveBoth(resolver, name);
    } catch (error) {
      // A machine without a DNS server may still resolve names through the system resolver.
      if ((error as NodeJS.ErrnoException).code === 'ECONNREFUSED') return system(name);
      throw error;
    }
  };
}

async function resolveBoth(resolver: Resolver, name: string) {
  const ipv6 = resolver.resolve6(name).then(
    (addresses) => ({ addresses, error: undefined }),
    (error: NodeJS.ErrnoException) => ({ addresses: [] as string[], error }),
  );
  try {
    const ipv4 = await resolver.resolve4(name);
    const { addresses } = await within(IPV6_WAIT_MS, ipv6).catch(ignoreTimeout);
    return [...withFamily(4, ipv4), ...withFamily(6, addresses)];
  } catch (error) {
    const second = await ipv6;
    if (second.addresses.length) return withFamily(6, second.addresses);
    // The name counts as nonexistent only if both lookups report that.
    throw isNotFound(error) && second.error ? second.error : error;
  }
}

const withFamily = (family: 4 | 6, addresses: readonly string[]) => addresses.map((address) => ({ address, family }));

const isNotFound = (error: unknown) => ['ENOTFOUND', 'ENODATA'].includes((error as NodeJS.ErrnoException).code ?? '');

function ignoreTimeout(error: unknown): { addresses: string[] } {
  if (error instanceof DeadlineExceededError) return { addresses: [] };
  throw error;
}

/** Reads the host names from /etc/hosts; empty if the file does not exist. */
async function hostsFileNames(): Promise<ReadonlySet<string>> {
  const text = await readFile('/etc/hosts', 'utf8').catch(() => '');
  const lines = text.split('\n').map((line) => line.replace(/#.*/, '').trim().toLowerCase().split(/\s+/).slice(1));
  return new Set(lines.flat());
}
