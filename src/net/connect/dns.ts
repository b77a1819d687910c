/**
 * Looks up host names that strangers chose. The system's resolver works in two of the process's four threads, so that
 * two names whose servers keep silent would stop every other look-up for as long: names on the internet are therefore
 * asked for over the network by the event loop, and only names of this house go to the system.
 */
import { lookup as askSystem, Resolver } from 'node:dns/promises';
import { readFile } from 'node:fs/promises';
import { parse } from 'tldts';
import { DeadlineExceededError, within } from '#concurrency/deadline.ts';

/** All addresses of a host name. Rejects with an error that has a `code` of `node:dns`. */
export type Lookup = (hostname: string) => Promise<readonly { readonly address: string; readonly family: number }[]>;

export interface LookupOptions {
  /** `address:port` of the name servers to ask; those of the system unless given. */
  readonly servers?: readonly string[];
  /** For the first try; the second takes twice as long. Default 2.5 s. */
  readonly tryTimeoutMs?: number;
  /** The system's own resolver, with its hosts file and search domains. */
  readonly system?: Lookup;
}

/** How long IPv6 answers may come after the IPv4 ones and still count. */
const SECOND_ANSWER_MS = 1_000;

export function createLookup(options: LookupOptions = {}): Lookup {
  const { servers, tryTimeoutMs = 2_500, system = (name) => askSystem(name, { all: true, verbatim: true }) } = options;
  const resolver = new Resolver({ timeout: tryTimeoutMs, tries: 2 });
  if (servers) resolver.setServers(servers);
  let hosts: Promise<ReadonlySet<string>> | undefined;

  return async (name) => {
    hosts ??= namesOfHostsFile();
    const isOfHouse = !name.includes('.') || !parse(name).isIcann || (await hosts).has(name);
    if (isOfHouse) return system(name);
    try {
      return await ask(resolver, name);
    } catch (error) {
      // A machine without any name server may have other ways to know names.
      if ((error as NodeJS.ErrnoException).code === 'ECONNREFUSED') return system(name);
      throw error;
    }
  };
}

async function ask(resolver: Resolver, name: string) {
  const sixes = resolver.resolve6(name).then(
    (addresses) => ({ addresses, error: undefined }),
    (error: NodeJS.ErrnoException) => ({ addresses: [] as string[], error }),
  );
  try {
    const fours = await resolver.resolve4(name);
    const { addresses } = await within(SECOND_ANSWER_MS, sixes).catch(onlyTimeUp);
    return [...of(4, fours), ...of(6, addresses)];
  } catch (error) {
    const second = await sixes;
    if (second.addresses.length) return of(6, second.addresses);
    // A name that has no address of one kind, and whose other answer is missing, may exist for all we know.
    throw isNo(error) && second.error ? second.error : error;
  }
}

const of = (family: 4 | 6, addresses: readonly string[]) => addresses.map((address) => ({ address, family }));

const isNo = (error: unknown) => ['ENOTFOUND', 'ENODATA'].includes((error as NodeJS.ErrnoException).code ?? '');

function onlyTimeUp(error: unknown): { addresses: string[] } {
  if (error instanceof DeadlineExceededError) return { addresses: [] };
  throw error;
}

/** Names that the machine's operator has written down; where there is no such file, none. */
async function namesOfHostsFile(): Promise<ReadonlySet<string>> {
  const text = await readFile('/etc/hosts', 'utf8').catch(() => '');
  const lines = text.split('\n').map((line) => line.replace(/#.*/, '').trim().toLowerCase().split(/\s+/).slice(1));
  return new Set(lines.flat());
}
