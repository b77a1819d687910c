/** What tries to leave this network namespace: packets on the way out, and the sockets that they come from. */
import { readFileSync } from 'node:fs';
import { remoteConnections } from '#app/doctor/processes.ts';

export interface Watch {
  /** What was seen so far. */
  seen(): { readonly packets: number; readonly places: readonly string[] };
  close(): void;
}

const OUT = 'out0';
const EVERY_MS = 10;

export function startWatch(): Watch {
  const places = new Set<string>();
  const before = packetsOut();
  const look = () => {
    for (const { remote } of remoteConnections()) places.add(remote);
  };
  // A connection that leads nowhere stays in the tables for as long as its process is patient; packets are never missed.
  const timer = setInterval(look, EVERY_MS);
  return {
    seen() {
      look();
      return { packets: packetsOut() - before, places: [...places] };
    },
    close: () => clearInterval(timer),
  };
}

/** proc_net(5): the tenth number of an interface. */
function packetsOut(): number {
  const line = readFileSync('/proc/net/dev', 'utf8')
    .split('\n')
    .find((text) => text.trim().startsWith(`${OUT}:`));
  return Number(line!.split(':')[1]!.trim().split(/\s+/)[9]);
}
