/** The metrics as Prometheus scrapes them, from the admin API or the metrics port. */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { get, type IncomingMessage } from 'node:http';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { parse } from 'yaml';
import { METRICS, type MetricName } from '#telemetry/metrics-table.ts';
import { startSite } from '../site/site.ts';
import { runHere } from '../support/run-here.ts';
import { startServer, type TestServer } from '../support/server.ts';
import { findProgram } from '../support/start-services.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly annotations: { readonly summary: string };
}

interface Dashboard {
  readonly panels: readonly { readonly targets?: readonly { readonly expr: string }[] }[];
}

const SECRET = 'metrics-test-secret';
const PAGE =
  '<html><body><article><h1>Hello</h1><p>Some words of a page, enough to be read.</p></article></body></html>';

let server: TestServer;
beforeAll(async () => {
  server = await startServer({
    metricsPort: 0,
    adminSecret: SECRET,
    adminPort: 0,
    adminHost: '127.0.0.1',
    browser: 'none',
  });
});
afterAll(() => server?.close());

const scrape = async () => (await fetch(`${server.urls.metrics}/metrics`)).text();

/** The sum of all series of a metric that have these labels. */
function sumOf(text: string, name: string, labels: Record<string, string> = {}): number {
  const lines = text.split('\n').filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `));
  const fitting = lines.filter((line) =>
    Object.entries(labels).every(([key, value]) => line.includes(`${key}="${value}"`)),
  );
  return fitting.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0);
}

/** Scrapes until a metric has increased, because requests are counted after their response. */
async function scrapeGrown(before: string, name: string, labels: Record<string, string>): Promise<string> {
  let text = '';
  await expect
    .poll(async () => {
      text = await scrape();
      return sumOf(text, name, labels) - sumOf(before, name, labels);
    })
    .toBeGreaterThan(0);
  return text;
}

const readPage = (url: string) =>
  fetch(server.reader, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json' },
    body: JSON.stringify({ html: PAGE, url }),
  }).then((answer) => answer.json() as Promise<{ data: { usage: { tokens: number } } }>);

describe('the metrics port', () => {
  it('exports each metric of the table, and those of the process', async () => {
    const text = await scrape();
    for (const [name, { type }] of Object.entries(METRICS)) expect(text).toContain(`# TYPE ${name} ${type}\n`);
    expect(sumOf(text, 'process_resident_memory_bytes')).toBeGreaterThan(1e6);
    expect(text).toContain('nodejs_eventloop_lag_p99_seconds');
    expect(text).toContain('nodejs_gc_duration_seconds');
    expect(sumOf(text, 'lectern_build_info', { version: '0.0.0-test', node: process.versions.node })).toBe(1);
  });

  it('serves nothing else', async () => {
    const answer = await fetch(`${server.urls.metrics}/`);
    expect([answer.status, await answer.text()]).toEqual([404, 'The metrics are at /metrics\n']);
    expect((await fetch(`${server.urls.metrics}/metrics`, { method: 'POST' })).status).toBe(404);
  });

  it('counts requests, their tokens and how long they took', async () => {
    const before = await scrape();
    const answer = await readPage('https://pages.test/one');
    const after = await scrapeGrown(before, 'lectern_requests_total', { face: 'reader', status: '2xx' });
    const grown = (name: string, labels?: Record<string, string>) =>
      sumOf(after, name, labels) - sumOf(before, name, labels);
    const read = { face: 'reader', endpoint: '/' };
    expect(grown('lectern_requests_total', { ...read, status: '2xx' })).toBe(1);
    expect(grown('lectern_request_duration_seconds_count', read)).toBe(1);
    expect(grown('lectern_request_duration_seconds_bucket', { ...read, le: '+Inf' })).toBe(1);
    expect(grown('lectern_request_duration_seconds_sum', read)).toBeGreaterThan(0);
    expect(grown('lectern_tokens_total', { endpoint: 'reader' })).toBe(answer.data.usage.tokens);
    expect(grown('lectern_cache_reads_total')).toBe(1);
  });

  it('has cumulative buckets', async () => {
    await readPage('https://pages.test/two');
    const counted = { face: 'reader', endpoint: '/' };
    const lines = (await scrapeGrown('', 'lectern_request_duration_seconds_bucket', counted))
      .split('\n')
      .filter((line) => line.startsWith('lectern_request_duration_seconds_bucket{face="reader",endpoint="/"'));
    const counts = lines.map((line) => Number(line.slice(line.lastIndexOf(' '))));
    expect(counts.length).toBe(METRICS.lectern_request_duration_seconds.buckets.length + 1);
    expect(counts).toEqual(counts.toSorted((a, b) => a - b));
    expect(counts.at(-1)).toBeGreaterThan(0);
  });

  it('counts failures by name and refusals by limit', async () => {
    const before = await scrape();
    await fetch(`${server.reader}/http://127.0.0.1:1/`);
    await fetch(`${server.urls.model}/v1/embeddings`, { method: 'POST', body: '{}' });
    await fetch(server.reader, { method: 'PUT' });
    const refused = { face: 'reader', name: 'MethodNotAllowedError' };
    const after = await scrapeGrown(before, 'lectern_failures_total', refused);
    const grown = (name: string, labels: Record<string, string>) =>
      sumOf(after, name, labels) - sumOf(before, name, labels);
    expect(grown('lectern_failures_total', { face: 'reader', name: 'SecurityCompromiseError' })).toBe(1);
    expect(grown('lectern_failures_total', { face: 'model', name: 'AuthenticationRequiredError' })).toBe(1);
    expect(grown('lectern_failures_total', refused)).toBe(1);
    expect(grown('lectern_requests_total', { face: 'model', endpoint: '/v1/embeddings', status: '4xx' })).toBe(1);
  });

  it('contains no URL, host or key of a caller', async () => {
    await readPage('https://a-secret-host.test/a-secret-path');
    await fetch(`${server.reader}/http://127.0.0.1:1/another-secret-path?key=abc`);
    await fetch(`${server.urls.model}/v1/a-secret-route`, { headers: { authorization: 'Bearer lectern_secret' } });
    const unknown = { face: 'model', endpoint: 'none', status: '4xx' };
    const text = await scrapeGrown('', 'lectern_requests_total', unknown);
    expect(text).not.toMatch(/secret|127\.0\.0\.1|\.test\b/);
    expect(sumOf(text, 'lectern_requests_total', unknown)).toBe(1);
  });

  it('counts requests with an invalid path', async () => {
    const before = await scrape();
    const { port } = new URL(server.urls.model!);
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      get({ host: '127.0.0.1', port, path: '/v1/%zz' }, resolve).on('error', reject);
    });
    answer.resume();
    expect(answer.statusCode).toBe(422);
    expect(answer.headers).toMatchObject({ 'x-content-type-options': 'nosniff', 'x-request-id': expect.any(String) });
    await expect
      .poll(async () => sumOf(await scrape(), 'lectern_requests_total', { endpoint: 'none', status: '4xx' }))
      .toBe(sumOf(before, 'lectern_requests_total', { endpoint: 'none', status: '4xx' }) + 1);
    expect(sumOf(await scrape(), 'lectern_failures_total')).toBe(sumOf(before, 'lectern_failures_total') + 1);
  });

  it('counts disconnected clients, and no failures for them', async () => {
    const failures = sumOf(await scrape(), 'lectern_failures_total');
    const stop = new AbortController();
    const left = fetch(server.reader, {
      method: 'POST',
      body: new ReadableStream({ start: (body) => body.enqueue(new TextEncoder().encode('{"html": "')) }),
      headers: { 'content-type': 'application/json' },
      signal: stop.signal,
      duplex: 'half',
    } as RequestInit).catch(() => 'left');
    setTimeout(() => stop.abort(), 200);
    expect(await left).toBe('left');
    await expect
      .poll(async () => sumOf(await scrape(), 'lectern_requests_total', { status: '499' }), { timeout: 20_000 })
      .toBe(1);
    expect(sumOf(await scrape(), 'lectern_failures_total')).toBe(failures);
  });
});

describe('the admin API', () => {
  it('serves the metrics to callers with its secret', async () => {
    const headers = { authorization: `Bearer ${SECRET}` };
    const answer = await fetch(`${server.urls.admin}/metrics`, { headers });
    expect(answer.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
    expect(await answer.text()).toContain('# TYPE lectern_requests_total counter');
    expect((await fetch(`${server.urls.admin}/metrics`)).status).toBe(401);
    expect((await fetch(`${server.urls.admin}/metrics`, { headers: { authorization: 'Bearer wrong' } })).status).toBe(
      401,
    );
  });
});

it('is not served on other ports', async () => {
  for (const face of ['search', 'model']) {
    const text = await (await fetch(`${server.urls[face]}/metrics`)).text();
    expect(text).not.toContain('lectern_requests_total');
  }
});

describe('the dashboard', () => {
  const dashboard = JSON.parse(readFileSync(path.join(ROOT, 'examples/grafana/lectern.json'), 'utf8')) as Dashboard;
  const expressions = dashboard.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));

  it('uses only existing metrics and labels', async () => {
    const text = await scrape();
    const given = new Set([...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name!));
    const asked = expressions.flatMap((expr) =>
      [...expr.matchAll(/\b((?:lectern|process|nodejs)_\w+)/g)].map(([, name]) => name!),
    );
    expect(asked.length).toBeGreaterThan(30);
    expect(asked.filter((name) => !given.has(name.replace(/_(?:bucket|sum|count)$/, '')))).toEqual([]);
    for (const [, name, labels] of expressions.join('\n').matchAll(/\b(lectern_\w+)\{([^}]*)\}/g)) {
      const row = METRICS[name!.replace(/_(?:bucket|sum|count)$/, '') as MetricName];
      const names = [...labels!.matchAll(/(\w+)(?:=~?|!=)"/g)].map(([, label]) => label!);
      expect(
        names.filter((label) => label !== 'instance' && !(row.labels as readonly string[]).includes(label)),
      ).toEqual([]);
    }
  });

  it('shows each metric of the table, except a few', () => {
    const shown = expressions.join('\n');
    // These metrics are for detailed analysis and need not be on the dashboard.
    const left = [
      'lectern_blocked_pages_total',
      'lectern_browser_connected',
      'lectern_browser_pages_total',
      'lectern_browser_servers',
      'lectern_job_run_duration_seconds',
      'lectern_job_runs_total',
      'lectern_model_inputs_total',
      'lectern_model_running_batches',
      'lectern_model_waiting_tokens',
      'lectern_remote_healthy',
      'lectern_remote_request_duration_seconds',
      'lectern_remote_run_seconds',
      'lectern_remote_served_total',
      'lectern_store_healthy',
    ];
    expect(
      Object.keys(METRICS)
        .filter((name) => !shown.includes(name))
        .sort(),
    ).toEqual(left.sort());
  });
});

describe('the alerts', () => {
  const FOLDER = path.join(ROOT, 'deploy/prometheus');
  const text = readFileSync(path.join(FOLDER, 'alerts.yml'), 'utf8');
  const { rules } = (parse(text) as { groups: { rules: Rule[] }[] }).groups[0]!;

  it('use only existing metrics and labels', async () => {
    const scraped = await scrape();
    expect(rules.length).toBeGreaterThan(5);
    for (const { alert, expr, annotations } of rules) {
      const names = [...expr.matchAll(/\b((?:lectern|process|nodejs)_\w+)/g)].map(([, name]) => name!);
      // `up` is made by Prometheus itself.
      if (alert !== 'LecternDown') expect(names, alert).not.toEqual([]);
      const own = names.map((name) => name.replace(/_(?:bucket|sum|count)$/, ''));
      expect(own.filter((name) => !scraped.includes(`# TYPE ${name} `))).toEqual([]);
      const labels = [
        ...[...expr.matchAll(/(\w+)(?:=~?|!=|!~)"/g)].map(([, label]) => label!),
        ...[...expr.matchAll(/by \(([^)]*)\)/g)].flatMap(([, list]) => list!.split(', ')),
        ...[...annotations.summary.matchAll(/\$labels\.(\w+)/g)].map(([, label]) => label!),
      ];
      const known = [...own.flatMap((name) => METRICS[name as MetricName]?.labels ?? []), 'le', 'job', 'instance'];
      expect(
        labels.filter((label) => !(known as readonly string[]).includes(label)),
        alert,
      ).toEqual([]);
    }
  });

  const promtool = findProgram('promtool');
  it.skipIf(!promtool).each([
    ['check', 'rules', 'alerts.yml'],
    ['test', 'rules', 'alerts.test.yml'],
  ])('pass promtool %s %s', async (...args) => {
    const { stdout } = await promisify(execFile)(promtool!, args, { cwd: FOLDER });
    expect(stdout).toContain('SUCCESS');
  });
});

describe('lectern top', () => {
  it('prints a table or JSON of the metrics', async () => {
    const args = ['top', '--once', '--metrics', server.urls.metrics!];
    const { out, code } = await runHere(args);
    expect(code).toBe(0);
    expect(out).toMatch(/^Lectern 0\.0\.0-test at 127\.0\.0\.1:\d+, memory \d+ MB/);
    expect(out).toMatch(/^reader +\d+ +[\d.]+ +0 +(?:\d+ ms|[\d.]+ s)$/m);
    expect(out).toMatch(/^page workers +\d+ +\d+$/m);
    const { out: json } = await runHere([...args, '--json']);
    const report = JSON.parse(json) as { faces: { face: string; requests: number; p95Seconds: number }[] };
    const reader = report.faces.find(({ face }) => face === 'reader')!;
    expect(reader.requests).toBeGreaterThan(0);
    expect(reader.p95Seconds).toBeGreaterThan(0);
  });

  it('sends the secret to the admin API only', async () => {
    const env = { LECTERN_ADMIN_SECRET: SECRET, LECTERN_ADMIN_PORT: new URL(server.urls.admin!).port };
    const { out, code } = await runHere(['top', '--once'], { env });
    expect([code, out]).toEqual([0, expect.stringContaining('Lectern 0.0.0-test')]);
    const asked = await runHere(['top', '--once', '--metrics', server.urls.admin!]);
    expect([asked.code, asked.error]).toEqual([1, expect.stringContaining('set LECTERN_ADMIN_SECRET')]);
  });

  it('shows the slow hosts to the operator only', async () => {
    const site = await startSite({ '/': PAGE });
    onTestFinished(() => site.close());
    const own = await startServer({
      ...{ metricsPort: 0, adminSecret: SECRET, adminPort: 0, adminHost: '127.0.0.1', browser: 'none' },
      allowNetworks: site.allow,
    });
    onTestFinished(() => own.close());
    expect((await fetch(`${own.reader}/${site.origin}/`)).status).toBe(200);
    const { host } = new URL(site.origin);
    const env = { LECTERN_ADMIN_SECRET: SECRET, LECTERN_ADMIN_PORT: new URL(own.urls.admin!).port };
    const { out } = await runHere(['top', '--once'], { env });
    expect(out).toContain('Slow hosts, last 24 h');
    expect(out.split('\n').filter((line) => line.startsWith(host))).toEqual([
      expect.stringMatching(/ 1 +0 +.*\d\d:\d\d:\d\d$/),
    ]);
    const { out: json } = await runHere(['top', '--once', '--json'], { env });
    expect(JSON.parse(json).hosts).toEqual([expect.objectContaining({ host, fetches: 1, failed: 0 })]);
    // The metrics port needs no secret.
    const { out: without } = await runHere(['top', '--once', '--metrics', own.urls.metrics!]);
    expect(without).not.toContain(host);
    const metrics = await (await fetch(`${own.urls.metrics}/metrics`)).text();
    expect(metrics).not.toContain(host);
  });

  it('says what is wrong', async () => {
    const fail = async (args: string[]) => (await runHere(['top', '--once', ...args])).error;
    expect(await fail([])).toContain('set LECTERN_METRICS_PORT or LECTERN_ADMIN_SECRET');
    expect(await fail(['--metrics', 'nowhere'])).toContain('nowhere is not a URL');
    expect(await fail(['--metrics', 'http://127.0.0.1:9'])).toContain('cannot reach the metrics at');
    expect(await fail(['--metrics', server.reader])).toContain('has no metrics of Lectern');
  });
});
