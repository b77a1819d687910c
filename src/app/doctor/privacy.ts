/**
 * Whether anything leaves the machine that nobody asked for. The examination itself reads from this machine alone, so while
 * it runs no process of the server has a reason to talk to another one.
 */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { childEnvironment, TELEMETRY_OFF } from '#concurrency/environment.ts';
import { absent, broken, type Check, type Found, ok } from './finding.ts';
import { environmentOf, nameOf, parentOf, processTree, remoteConnections, socketsOf } from './processes.ts';

export interface ConnectionWatch {
  report(): ConnectionReport;
  close(): void;
}

export interface ConnectionReport {
  /** How often it was looked. */
  readonly samples: number;
  /** The most processes that were there at once. */
  readonly processes: number;
  /** `chrome: tcp 198.51.100.7 443`. */
  readonly connections: readonly string[];
}

const EVERY_MS = 250;
const PROGRAM_MS = 30_000;
const isLinux = process.platform === 'linux';

/** Looks at the connections of this process and of all that it has started, every quarter of a second. */
export function watchConnections(): ConnectionWatch {
  const connections = new Set<string>();
  let samples = 0;
  let processes = 0;
  const look = () => {
    const family = processTree(process.pid);
    samples++;
    processes = Math.max(processes, family.length);
    const away = remoteConnections();
    if (!away.length) return;
    for (const pid of family) {
      const own = new Set(socketsOf(pid));
      for (const { remote, inode } of away) if (own.has(inode)) connections.add(`${nameOf(pid)}: ${remote}`);
    }
  };
  const timer = isLinux ? setInterval(look, EVERY_MS).unref() : undefined;
  return {
    report() {
      if (isLinux) look();
      return { samples, processes, connections: [...connections] };
    },
    close: () => clearInterval(timer),
  };
}

export const privacyChecks = (watch: ConnectionWatch): Check[] => [
  { group: 'Privacy', name: 'Telemetry', run: telemetry },
  { group: 'Privacy', name: 'Connections', run: () => connections(watch) },
];

/** Of a process that is started for this, and of those that are there. */
async function telemetry(): Promise<Found> {
  const script = 'process.stdout.write(JSON.stringify(process.env))';
  const { stdout } = await promisify(execFile)(process.execPath, ['-e', script], {
    env: childEnvironment(),
    timeout: PROGRAM_MS,
  });
  const started = new Map(Object.entries(JSON.parse(stdout) as Record<string, string>));
  // What these start in turn inherits from them; renderers of Chromium write their titles over their variables.
  const running = isLinux ? processTree(process.pid).filter((pid) => parentOf(pid) === process.pid) : [];
  const environments = running.flatMap((pid) => {
    const environment = environmentOf(pid);
    return environment ? [{ name: nameOf(pid), environment }] : [];
  });
  const on = [{ name: 'node', environment: started }, ...environments].filter(({ environment }) =>
    Object.entries(TELEMETRY_OFF).some(([name, value]) => environment.get(name) !== value),
  );
  if (on.length)
    return broken(
      `${[...new Set(on.map(({ name }) => name))].join(', ')}: not told to send no reports`,
      'Report it: libraries in these processes may tell their makers that they are used',
    );
  const names = Object.keys(TELEMETRY_OFF).join(', ');
  return ok(`${names} reach the ${environments.length + 1} processes that were looked at`);
}

function connections(watch: ConnectionWatch): Found {
  if (!isLinux) return absent('this system does not tell which process has which connection');
  const { samples, processes, connections } = watch.report();
  if (connections.length)
    return broken(
      `to other machines: ${connections.slice(0, 5).join(', ')}`,
      'The examination asks no other machine: find out what these are, and report them',
    );
  return ok(`none to other machines in ${samples} looks at up to ${processes} processes; shorter ones are not seen`);
}
