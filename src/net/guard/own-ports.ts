/**
 * The ports that this server uses: its own on this machine, because requests to them could loop, and those of its
 * browsers on other machines, which pages must not control. Requests to them are refused even in an allowed network.
 */
import { networkInterfaces } from 'node:os';
import { type Address, parseAddress } from './ip-address.ts';

export interface OwnPorts {
  /** Adds a port that this server listens on. */
  add(port: number): void;
  /** Adds a port of a service on another machine. Text that is not an IP address is ignored. */
  addElsewhere(address: string, port: number): void;
  /** Whether this server uses the port at this IP address. */
  has(address: Address, port: number): boolean;
}

export function createOwnPorts(): OwnPorts {
  const ports = new Set<number>();
  const elsewhere = new Set<string>();
  const keyOf = (address: Address, port: number) => `${address.toNormalizedString()} ${port}`;
  return {
    add: (port) => void ports.add(port),
    addElsewhere(text, port) {
      const address = parseAddress(text);
      if (!address) return;
      elsewhere.add(keyOf(address, port));
      // Another loopback address of this machine reaches the same service.
      if (isOfThisMachine(address)) ports.add(port);
    },
    has: (address, port) =>
      (ports.has(port) && isOfThisMachine(address)) || (elsewhere.size > 0 && elsewhere.has(keyOf(address, port))),
  };
}

/** Whether the IP address belongs to this machine. Not cached, because network interfaces change at run time. */
const isOfThisMachine = (address: Address): boolean =>
  ['loopback', 'unspecified'].includes(address.range()) ||
  Object.values(networkInterfaces()).some((addresses) =>
    addresses?.some((own) => parseAddress(own.address)?.toNormalizedString() === address.toNormalizedString()),
  );
