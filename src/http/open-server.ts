/** Opens the ports of HTTP servers. */
import { lookup } from 'node:dns/promises';
import type { Server } from 'node:http';
import { type AddressInfo, createServer, type Server as NetServer } from 'node:net';

export interface PortOptions {
  readonly host: string;
  /** 0 for any free port. */
  readonly port: number;
  /** Maximum number of connections that wait to be accepted. Default: that of Node. */
  readonly backlog?: number | undefined;
}

/** All addresses of a host name. */
export type AddressesOf = (host: string) => Promise<readonly string[]>;

const LOCALHOST = 'localhost';
/** Errors of an address that this machine does not have, such as ::1 without IPv6. */
const NO_SUCH_ADDRESS: ReadonlySet<string | undefined> = new Set(['EADDRNOTAVAIL', 'EAFNOSUPPORT']);

const lookUpAll: AddressesOf = async (host) => (await lookup(host, { all: true })).map(({ address }) => address);

const others = new WeakMap<Server, NetServer[]>();

/**
 * Opens the port of a server, on `localhost` at all addresses of this name, because clients choose either of 127.0.0.1
 * and ::1. Their connections are those of the one server. (Fastify's own `listen` opens further servers there, which the
 * listeners of this one never see.) Rejects if the port is in use at one of them: clients would reach another program.
 */
export async function openServer(
  server: Server,
  { host, port, backlog }: PortOptions,
  addressesOf: AddressesOf = lookUpAll,
): Promise<void> {
  await listen(server, { host, port, backlog });
  if (host !== LOCALHOST) return;
  const first = server.address() as AddressInfo;
  const addresses = await addressesOf(host).catch(() => []);
  for (const address of new Set(addresses)) {
    if (address === first.address) continue;
    const other = createServer((socket) => server.emit('connection', socket));
    try {
      await listen(other, { host: address, port: first.port, backlog });
    } catch (error) {
      if (!NO_SUCH_ADDRESS.has((error as NodeJS.ErrnoException).code)) throw error;
      continue;
    }
    others.set(server, [...(others.get(server) ?? []), other]);
  }
}

/** Accepts no more connections at the further addresses of a server. */
export function closeOtherAddresses(server: Server): void {
  for (const other of others.get(server) ?? []) other.close();
  others.delete(server);
}

const listen = (server: NetServer, options: PortOptions): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(options, () => {
      server.off('error', reject);
      resolve();
    });
  });
