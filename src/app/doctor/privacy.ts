/**
 * Checks that no process of the server contacts other machines on its own initiative. The doctor reads only from this
 * machine, so no process has a reason to connect to another one while the doctor runs.
 */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { childEnvironment, TELEMETRY_OFF } from '#concurrency/environment.ts';
import { absent, broken, type Check, type CheckResult, ok } from './finding.ts';
import { environmentOf, nameOf, parentOf, processTree, remoteConnections, socketsOf } from './processes.ts';

export interface ConnectionWatch {
  report(): ConnectionReport;
  close(): void;
}

export interface ConnectionReport {
  /** The number of times that the connections were sampled. */
  readonly samples: number;
  /** The largest number of processes in any sample. */
  readonly processes: number;
  /** For example `chrome: tcp 198.51.100.7 443`. */
  readonly connections: readonly string[];
}

const SAMPLE_INTERVAL_MS = 250;
const PROGRAM_TIMEOUT_MS = 30_000;
const isLinux = process.platform === 'linux';

/** Samples the connections of this process and its descendants. Only Linux lists connections by process. */
export function watchConnections(): ConnectionWatch {
  const connections = new Set<string>();
  let samples = 0;
  let processes = 0;
  const sample = () => {
    const tree = processTree(process.pid);
    samples++;
    processes = Math.max(processes, tree.length);
    const remotes = remoteConnections();
    if (!remotes.length) return;
    for (const pid of tree) {
      const own = new Set(socketsOf(pid));
      for (const { remote, inode } of remotes) if (own.has(inode)) connections.add(`${nameOf(pid)}: ${remote}`);
    }
  };
  const timer = isLinux ? setInterval(sample, SAMPLE_INTERVAL_MS).unref() : undefined;
  return {
    report() {
      if (isLinux) sample();
      return { samples, processes, connections: [...connections] };
    },
    close: () => clearInterval(timer),
  };
}

export const privacyChecks = (watch: ConnectionWatch): Check[] => [
  { group: 'Privacy', name: 'Telemetry', run: checkTelemetry },
  { group: 'Privacy', name: 'Connections', run: () => checkConnections(watch) },
];

/** Checks that the variables that disable telemetry are set in a new child process and in the running ones. */
async function checkTelemetry(): Promise<CheckResult> {
  const script = 'process.stdout.write(JSON.stringify(process.env))';
  const { stdout } = await promisify(execFile)(process.execPath, ['-e', script], {
    env: childEnvironment(),
    timeout: PROGRAM_TIMEOUT_MS,
  });
  const child = new Map(Object.entries(JSON.parse(stdout) as Record<string, string>));
  // Only direct children are checked, because their own children inherit the variables. Chromium's renderers overwrite
  // their environment with a process title.
  const running = isLinux ? processTree(process.pid).filter((pid) => parentOf(pid) === process.pid) : [];
  const environments = running.flatMap((pid) => {
    const environment = environmentOf(pid);
    return environment ? [{ name: nameOf(pid), environment }] : [];
  });
  const on = [{ name: 'node', environment: child }, ...environments].filter(({ environment }) =>
    Object.entries(TELEMETRY_OFF).some(([name, value]) => environment.get(name) !== value),
  );
  if (on.length)
    return broken(
      `${[...new Set(on.map(({ name }) => name))].join(', ')}: started without the switches against telemetry`,
      'Please report this bug: libraries in these processes may send usage data to their vendors',
    );
  const names = Object.keys(TELEMETRY_OFF).join(', ');
  return ok(`${names} are set in all ${environments.length + 1} processes checked`);
}

function checkConnections(watch: ConnectionWatch): CheckResult {
  if (!isLinux) return absent('this system does not list connections by process');
  const { samples, processes, connections } = watch.report();
  if (connections.length)
    return broken(
      `to other machines: ${connections.slice(0, 5).join(', ')}`,
      'The doctor contacts no other machine. Find out which program connected, and report it if it is Lectern',
    );
  return ok(
    `none to other machines in ${samples} samples of up to ${processes} processes; shorter connections are not seen`,
  );
}
