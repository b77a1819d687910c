/** Code shared by the benchmarks: a server as users run it, a site to read, memory of processes, tables. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import http from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { freePorts } from '../test/support/free-ports.ts';

const ROOT = path.resolve(import.meta.dirname, '..');

/**
 * Whether the argument `--smoke` is given: the benchmark then does everything once, in a few seconds, to show that it
 * still runs. Its figures mean nothing.
 */
export const SMOKE = takeFlag('--smoke');

/** A size of the benchmark, and the smallest one that shows that it runs. */
export const sized = <T>(whole: T, smallest: T): T => (SMOKE ? smallest : whole);

/** Removes the flag, because each benchmark reads the other arguments itself. */
function takeFlag(flag: string): boolean {
  const at = process.argv.indexOf(flag, 2);
  if (at >= 0) process.argv.splice(at, 1);
  return at >= 0;
}
const SETUP_DATA_DIR = path.resolve(process.env.LECTERN_DATA_DIR ?? path.join(ROOT, '.lectern'));

export interface Running {
  readonly url: string;
  readonly pid: number;
  /** Time from the start of the process until it is ready. */
  readonly readyMs: number;
  stop(): Promise<void>;
  /** Ends the process without giving it a chance to clean up. */
  kill(): Promise<void>;
}

/**
 * Runs `node dist/main.js serve`, or another build, on a free port with an empty data folder, unless the environment names
 * them.
 */
export async function serve(
  environment: Record<string, string> = {},
  nodeOptions: readonly string[] = [],
  program = path.join(ROOT, 'dist/main.js'),
): Promise<Running> {
  const given = environment.LECTERN_DATA_DIR;
  const dataDir = given ?? mkdtempSync(path.join(os.tmpdir(), 'lectern-bench-'));
  try {
    symlinkSync(path.join(SETUP_DATA_DIR, 'browser'), path.join(dataDir, 'browser'));
  } catch {
    // The set-up has not unpacked a browser, so an installed one is used; or the folder has it from an earlier run.
  }
  const port = environment.LECTERN_READER_PORT ?? (await freePorts());
  const env = {
    ...process.env,
    LECTERN_DATA_DIR: dataDir,
    LECTERN_HOST: '127.0.0.1',
    LECTERN_READER_PORT: String(port),
    LECTERN_SEARCH_PORT: '0',
    LECTERN_MODEL_PORT: '0',
    LECTERN_COMPAT_PORT: '0',
    LECTERN_FLOW_PORT: '0',
    LECTERN_FLOW_GRPC_PORT: '0',
    LECTERN_LOG_LEVEL: 'warn',
    // High limits, so that the benchmark measures work and not refusals.
    LECTERN_KEYLESS_RPM: 'none',
    ...environment,
  };
  const startedAt = performance.now();
  const child = spawn(process.execPath, [...nodeOptions, program, 'serve'], {
    env,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const url = `http://127.0.0.1:${port}`;
  await untilReady(`${url}/ready`, child);
  return {
    url,
    pid: child.pid!,
    readyMs: performance.now() - startedAt,
    async stop() {
      child.kill('SIGTERM');
      await once(child, 'exit');
      if (!given) rmSync(dataDir, { recursive: true, force: true });
    },
    async kill() {
      child.kill('SIGKILL');
      await once(child, 'exit');
    },
  };
}

async function untilReady(url: string, child: ChildProcess): Promise<void> {
  for (;;) {
    if (child.exitCode !== null) throw new Error(`the server ended with ${child.exitCode}`);
    const ok = await new Promise<boolean>((resolve) => {
      http
        .get(url, (answer) => {
          answer.resume();
          resolve(answer.statusCode === 200);
        })
        .on('error', () => resolve(false));
    });
    if (ok) return;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** An article of about 20 kB with the usual boilerplate around it. */
export function articlePage(): string {
  const words =
    'the pot of tea stands on the table and the steam goes up past the window where it is raining again'.split(' ');
  const sentence = (n: number) =>
    `${Array.from({ length: 18 }, (_, k) => words[(n * 7 + k * 3) % words.length]).join(' ')}.`;
  const paragraph = (n: number) =>
    `<p>${[0, 1, 2, 3].map((k) => sentence(n * 4 + k)).join(' ')} <a href="/more/${n}">More ${n}</a>.</p>`;
  const links = (count: number) =>
    Array.from({ length: count }, (_, n) => `<li><a href="/nav/${n}">Item ${n}</a></li>`).join('');
  const body = Array.from({ length: 40 }, (_, n) => (n % 8 ? '' : `<h2>Part ${n / 8 + 1}</h2>`) + paragraph(n)).join(
    '\n',
  );
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Tea and rain</title><meta name="description" content="A long page"></head>
<body><header><nav><ul>${links(30)}</ul></nav></header><main><article><h1>Tea and rain</h1>${body}</article></main>
<aside><ul>${links(20)}</ul></aside><footer><ul>${links(25)}</ul></footer></body></html>`;
}

/** What a script adds to the article at `/late`, 1.5 s after it was loaded. */
export const LATE_TEXT = 'One more sentence, which came later than all the others.';

const latePage = (): string =>
  articlePage().replace(
    '</article>',
    `<p id="late"></p></article><script>setTimeout(() => {
      document.getElementById('late').textContent = ${JSON.stringify(LATE_TEXT)}; }, 1500);</script>`,
  );

/** Starts a bare Node server with that page, in this process. `lateUrl` is the page with a script. */
export async function site(): Promise<{ url: string; lateUrl: string; host: string; hits(): number; close(): void }> {
  const pages = { plain: Buffer.from(articlePage()), late: Buffer.from(latePage()) };
  let hits = 0;
  const server = http.createServer((request, response) => {
    hits++;
    const page = request.url === '/late' ? pages.late : pages.plain;
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8', 'content-length': page.length });
    response.end(page);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  return {
    url: `http://127.0.0.1:${port}/article`,
    lateUrl: `http://127.0.0.1:${port}/late`,
    host: `127.0.0.1:${port}`,
    hits: () => hits,
    close: () => server.close(),
  };
}

/** Resident memory of a process in MB, without its children. */
export const residentMb = (pid: number): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024;

/** Proportional memory of a process, in MB: shared memory is divided by the number of its users. 0 if it has exited. */
export function proportionalMb(pid: number): number {
  try {
    return Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))?.[1] ?? 0) / 1024;
  } catch {
    return 0;
  }
}

/** Proportional memory of the descendants of a process, in MB. */
export function descendantsMb(pid: number): number {
  const parents = new Map<number, number>();
  for (const name of readdirSync('/proc').filter((entry) => /^\d+$/.test(entry))) {
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
      parents.set(Number(name), Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]));
    } catch {
      // The process has exited since it was listed.
    }
  }
  const isDescendant = (id: number): boolean => {
    for (let at = parents.get(id); at; at = parents.get(at)) if (at === pid) return true;
    return false;
  };
  const descendants = [...parents.keys()].filter(isDescendant);
  return descendants.reduce((sum, id) => sum + proportionalMb(id), 0);
}

export const median = (values: readonly number[]): number => {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
};

export const percentile = (values: readonly number[], share: number): number => {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN;
};

/** Formats rows as a Markdown table, with right-aligned numbers. */
export function table(heads: string[], rows: (string | number)[][]): string {
  const cells = [heads, ...rows.map((row) => row.map((cell) => (typeof cell === 'number' ? shown(cell) : cell)))];
  const widths = heads.map((_, column) => Math.max(3, ...cells.map((row) => row[column]!.length)));
  const numeric = heads.map((_, column) => rows.every((row) => typeof row[column] === 'number'));
  const line = (row: string[]) =>
    `| ${row.map((cell, column) => (numeric[column] ? cell.padStart(widths[column]!) : cell.padEnd(widths[column]!))).join(' | ')} |`;
  const rule = `| ${widths.map((width, column) => (numeric[column] ? `${'-'.repeat(width - 1)}:` : '-'.repeat(width))).join(' | ')} |`;
  return [line(cells[0]!), rule, ...cells.slice(1).map(line)].join('\n');
}

const shown = (value: number) => (value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2));

export const machine = (): string => {
  const { model = 'unknown' } = os.cpus()[0] ?? {};
  return `${os.availableParallelism()} × ${model.trim()}, Node ${process.versions.node}, ${process.platform} ${process.arch}`;
};

/** Builds the program, so that the current code is measured. A smoke run uses the program as it is. */
export const build = (): void => {
  if (SMOKE) return;
  execFileSync(process.execPath, ['scripts/bundle.mjs'], {
    cwd: ROOT,
    stdio: 'inherit',
  });
};
