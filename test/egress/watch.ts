/** Records what tries to leave this network namespace: packets, and the sockets that send them. */
import { readFileSync } from 'node:fs';
import { remoteConnections } from '#app/doctor/processes.ts';

export interface Watch {
  /** What was recorded so far. */
  seen(): { readonly packets: number; readonly places: readonly string[] };
  close(): void;
}

const OUT = 'out0';
const EVERY_MS = 100;

export function startWatch(): Watch {
  const places = new Set<string>();
  const before = packetsOut();
  const look = () => {
    for (const { remote } of remoteConnections()) places.add(remote);
  };
  // An unanswered connection stays in the tables until its process gives up; the packet count misses nothing.
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
