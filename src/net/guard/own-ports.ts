/** Where this server itself can be reached: what it read there it would read in circles. */
import { networkInterfaces } from 'node:os';
import { type Address, parseAddress } from './ip-address.ts';

export interface OwnPorts {
  /** Something of ours listens on this port. */
  add(port: number): void;
  /** Whether an address and port lead to something of ours, under whatever address of this machine. */
  has(address: Address, port: number): boolean;
}

export function createOwnPorts(): OwnPorts {
  const ports = new Set<number>();
  return {
    add: (port) => void ports.add(port),
    has: (address, port) => ports.has(port) && isOfThisMachine(address),
  };
}

/** Asked each time: a machine may come to a new network while it runs. */
const isOfThisMachine = (address: Address): boolean =>
  ['loopback', 'unspecified'].includes(address.range()) ||
  Object.values(networkInterfaces()).some((addresses) =>
    addresses?.some((own) => parseAddress(own.address)?.toNormalizedString() === address.toNormalizedString()),
  );
