/** `lectern top`: shows what a server or a worker is doing, from its metrics. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Command, Option } from 'commander';
import { isUrl } from '#is-url.ts';
import type { HostTime } from '#telemetry/host-times.ts';
import type { CliContext } from './context.ts';
import { usageError } from './exit-codes.ts';
import { parseInteger } from './numbers.ts';
import { connectionReason } from './system-errors.ts';
import type { Scrape } from './top-report.ts';

type TopContext = Pick<CliContext, 'environment' | 'print' | 'redraw' | 'signal'>;

interface TopFlags {
  readonly metrics?: string;
  readonly once?: boolean;
  readonly json?: boolean;
  readonly interval: number;
}

const SCRAPE_MS = 10_000;
const SHOWN_HOSTS = 5;

export function topCommand(context: TopContext): Command {
  return new Command('top')
    .description('Show what a server or a worker is doing: requests, queues, browser, memory, slow hosts.')
    .addOption(
      new Option(
        '--metrics <url>',
        'URL of the metrics, such as http://worker:9464. Default: the metrics port or the admin API of the settings. LECTERN_ADMIN_SECRET is sent to LECTERN_ADMIN_PORT only.',
      ),
    )
    .addOption(new Option('--interval <seconds>', 'Time between two reports.').argParser(parseInteger).default(2))
    .option('--once', 'Print one report, with the requests since the start, and exit.')
    .option('--json', 'Print reports as JSON, one on each line.')
    .exitOverride()
    .action((flags: TopFlags) => top(context, flags));
}

interface Place {
  readonly url: string;
  readonly secret: string | undefined;
  /** Where the admin API lists hosts; `undefined` without its secret, since only the operator may see them. */
  readonly hosts: { readonly url: string; readonly secret: string } | undefined;
}

async function top(context: TopContext, flags: TopFlags): Promise<void> {
  if (flags.interval < 1) throw usageError('--interval must be at least 1');
  const { print, redraw, signal } = context;
  const place = await placeOf(context, flags.metrics);
  const { reportLines, reportOf } = await import('./top-report.ts');
  const show = async (now: Scrape, before?: Scrape) => {
    const report = { ...reportOf(now, before), hosts: await hostsOf(place, signal) };
    if (flags.json) return print(JSON.stringify(report));
    const lines = reportLines(report, new URL(place.url).host);
    if (redraw && !flags.once) redraw([...lines, '', 'Ctrl-C ends.']);
    else for (const line of flags.once ? lines : [...lines, '']) print(line);
  };
  let before = await scrape(place, signal);
  await show(before);
  if (flags.once) return;
  for (;;) {
    await sleep(flags.interval * 1_000, undefined, { signal });
    const now = await scrape(place, signal);
    await show(now, before);
    before = now;
  }
}

async function placeOf({ environment }: TopContext, given: string | undefined): Promise<Place> {
  const { readConfig } = await import('#config.ts');
  const { adminSecret, adminHost, adminPort, metricsHost, metricsPort } = readConfig({ environment });
  if (given !== undefined) {
    if (!isUrl(given)) throw usageError(`${given} is not a URL`);
    const url = new URL(given);
    if (url.pathname === '/') url.pathname = '/metrics';
    const secret = Number(url.port) === adminPort ? adminSecret : undefined;
    return { url: url.href, secret, hosts: hostsAt(url, secret) };
  }
  const { formatUrl } = await import('#app/listen.ts');
  const admin = formatUrl(localHost(adminHost), adminPort);
  const hosts = hostsAt(admin, adminSecret);
  // Both may be set to listen on all addresses, where this machine reaches them too.
  if (metricsPort)
    return { url: `${formatUrl(localHost(metricsHost), metricsPort)}/metrics`, secret: undefined, hosts };
  if (adminSecret) return { url: `${admin}/metrics`, secret: adminSecret, hosts };
  throw usageError(
    'there are no metrics to show: set LECTERN_METRICS_PORT or LECTERN_ADMIN_SECRET for the server and for this command, or give --metrics URL',
  );
}

const hostsAt = (admin: string | URL, secret: string | undefined): Place['hosts'] =>
  secret === undefined ? undefined : { url: new URL(`/hosts?limit=${SHOWN_HOSTS}`, admin).href, secret };

const localHost = (host: string): string => (host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host);

/** The hosts; `undefined` where they cannot be asked for, a reason if the admin API does not list them. */
async function hostsOf({ hosts }: Place, signal: AbortSignal): Promise<readonly HostTime[] | string | undefined> {
  if (hosts === undefined) return undefined;
  const { url, secret } = hosts;
  try {
    const response = await fetch(url, {
      signal: AbortSignal.any([signal, AbortSignal.timeout(SCRAPE_MS)]),
      redirect: 'error',
      headers: { authorization: `Bearer ${secret}` },
    });
    if (!response.ok) return `${url} responded with status ${response.status}`;
    return ((await response.json()) as { data: HostTime[] }).data;
  } catch (error) {
    if (signal.aborted) throw error;
    return `${url}: ${connectionReason(error) ?? (error as Error).message}`;
  }
}

async function scrape({ url, secret }: Place, signal: AbortSignal): Promise<Scrape> {
  const { parseMetrics } = await import('#telemetry/parse-metrics.ts');
  const response = await fetch(url, {
    signal: AbortSignal.any([signal, AbortSignal.timeout(SCRAPE_MS)]),
    redirect: 'error',
    ...(secret && { headers: { authorization: `Bearer ${secret}` } }),
  }).catch((error: Error) => {
    if (signal.aborted) throw error;
    const reason = error.name === 'TimeoutError' ? 'there was no answer in time' : connectionReason(error);
    throw new Error(`cannot reach the metrics at ${url}: ${reason ?? error.message}`);
  });
  if (response.status === 401) throw new Error(`${url} needs the admin secret: set LECTERN_ADMIN_SECRET`);
  const samples = response.ok ? parseMetrics(await response.text()) : undefined;
  if (!samples?.has('lectern_build_info') && !samples?.has('process_resident_memory_bytes')) {
    throw new Error(`${url} has no metrics of Lectern (status ${response.status})`);
  }
  return { atMs: performance.now(), samples };
}
