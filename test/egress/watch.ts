/** Records what tries to leave this network namespace: outgoing packets, and the remote addresses of sockets. */
import { readFileSync } from 'node:fs';
import { remoteConnections } from '#app/doctor/processes.ts';

export interface Watch {
  /** Everything recorded so far. */
  seen(): { readonly packets: number; readonly places: readonly string[] };
  close(): void;
}

const OUT = 'out0';
const EVERY_MS = 100;

export function startWatch(): Watch {
  const destinations = new Set<string>();
  const before = packetsOut();
  const look = () => {
    for (const { remote } of remoteConnections()) destinations.add(remote);
  };
  // Connections to nowhere stay in the tables until their process gives up; packet counts miss nothing.
  const timer = setInterval(look, EVERY_MS);
  return {
    seen() {
      look();
      return { packets: packetsOut() - before, places: [...destinations] };
    },
    close: () => clearInterval(timer),
  };
}

/** proc_net(5): the tenth number of an interface is the count of sent packets. */
function packetsOut(): number {
  const line = readFileSync('/proc/net/dev', 'utf8')
    .split('\n')
    .find((text) => text.trim().startsWith(`${OUT}:`));
  return Number(line!.split(':')[1]!.trim().split(/\s+/)[9]);
}
