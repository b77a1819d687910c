/** Records every attempt to leave this network namespace: outgoing packets, and the remote addresses of sockets. */
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
  // Failing connections stay in the tables until their process gives up. Packet counts include even shorter ones.
  const timer = setInterval(look, EVERY_MS);
  return {
    seen() {
      look();
      return { packets: packetsOut() - before, places: [...destinations] };
    },
    close: () => clearInterval(timer),
  };
}

/** Number of sent packets: the tenth number of each interface in proc_net(5). */
function packetsOut(): number {
  const line = readFileSync('/proc/net/dev', 'utf8')
    .split('\n')
    .find((text) => text.trim().startsWith(`${OUT}:`));
  return Number(line!.split(':')[1]!.trim().split(/\s+/)[9]);
}
