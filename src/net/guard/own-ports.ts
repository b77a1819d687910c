/** The ports that this server uses on this machine. Requests to them are refused, because they could loop. */
import { networkInterfaces } from 'node:os';
import { type Address, parseAddress } from './ip-address.ts';

export interface OwnPorts {
  /** Adds a port that this server listens on. */
  add(port: number): void;
  /** Whether the port belongs to this server and the IP address to this machine. */
  has(address: Address, port: number): boolean;
}

export function createOwnPorts(): OwnPorts {
  const ports = new Set<number>();
  return {
    add: (port) => void ports.add(port),
    has: (address, port) => ports.has(port) && isOfThisMachine(address),
  };
}

/** Whether the IP address belongs to this machine. Not cached, because network interfaces change at run time. */
const isOfThisMachine = (address: Address): boolean =>
  ['loopback', 'unspecified'].includes(address.range()) ||
  Object.values(networkInterfaces()).some((addresses) =>
    addresses?.some((own) => parseAddress(own.address)?.toNormalizedString() === address.toNormalizedString()),
  );
