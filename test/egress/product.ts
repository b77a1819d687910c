/**
 * Runs the built server in this network and makes it do every kind of work. Prints the results and the recorded
 * connections.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { serveProgram } from '../support/serve-program.ts';
import type { Given } from './files.ts';
import { startResolver } from './resolver.ts';
import { HOSTS, startSites } from './sites.ts';
import { startWatch } from './watch.ts';
import { openWork, type Step, workOf } from './work.ts';

/** Input of the script. */
export interface Task {
  /** Path of the program. */
  readonly program: string;
  readonly dataDir: string;
  readonly given: Given;
}

export interface Seen {
  readonly steps: readonly Step[];
  readonly names: readonly string[];
  readonly packets: number;
  readonly places: readonly string[];
}

const { program, dataDir, given } = JSON.parse(process.env.LECTERN_EGRESS_TASK!) as Task;
const { LECTERN_EGRESS_TASK: _, ...environment } = process.env as Record<string, string>;

const resolver = await startResolver(Object.values(HOSTS));
const watch = startWatch();
const sites = await startSites(given.folder);
const settings = {
  ...environment,
  LECTERN_DATA_DIR: dataDir,
  LECTERN_ALLOW_NETWORKS: '127.0.0.1',
  LECTERN_MODELS: JSON.stringify(given.models),
  LECTERN_MODEL_DOWNLOAD: 'off',
  LECTERN_SEARCH_PROVIDERS: JSON.stringify([{ name: 'searxng', url: sites.at(HOSTS.search) }]),
  LECTERN_OTLP_URL: sites.at(HOSTS.traces),
  LECTERN_CRAWL_DELAY_MS: '0',
};
const steps: Step[] = [];

/** Runs a command of the program and waits until it exits. */
async function command(args: readonly string[], more: Readonly<Record<string, string>> = {}) {
  const child = spawn(process.execPath, [program, ...args], {
    env: { ...settings, ...more },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [out, error, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  return { out, error, code: code as number | null };
}

const server = await serveProgram(program, settings);
try {
  const work = openWork({ server, sites, given, command });
  for (const [name, run] of workOf(work)) {
    try {
      steps.push({ name, done: await run() });
    } catch (error) {
      steps.push({ name, failed: String((error as Error).message) });
    }
  }
} finally {
  await server.stop();
  await sites.close();
}
const { packets, places } = watch.seen();
console.log(JSON.stringify({ steps, names: [...resolver.names], packets, places } satisfies Seen));
watch.close();
resolver.close();
