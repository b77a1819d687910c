/**
 * The walk-through `docs/guide/first-hour.md`: packs the package, installs it from the registry into an empty folder,
 * and runs every command of the page in one shell. Also holds the size of the package to its budget.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { lstat, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, it, onTestFinished } from 'vitest';
import { MAX_INSTALLED_BYTES, MAX_MODELS_PACKED_BYTES, MAX_PACKED_BYTES } from '../scripts/release/budgets.mjs';
import { startSite } from './site/site.ts';
import { type DocExample, examplesOf } from './support/doc-examples.ts';
import { freePorts } from './support/free-ports.ts';

const ROOT = path.resolve(import.meta.dirname, '..');
const PAGE = 'docs/guide/first-hour.md';
/** An installation, a browser, and a dozen starts of the program. */
const LONG_MS = 600_000;
const LINES = '<p>This domain is for use in examples, such as those of a guide for new users.</p>'.repeat(4);

interface Step {
  readonly example: DocExample;
  /** The output that the page shows; `undefined` if it shows none. */
  readonly shown: string | undefined;
}

/** Pairs each block of commands with the block of output after it. */
function stepsOf(examples: readonly DocExample[]): Step[] {
  return examples.flatMap((example, at) => {
    if (example.language !== 'sh') return [];
    const next = examples[at + 1];
    return [{ example, shown: next?.language === 'text' ? next.code : undefined }];
  });
}

/** Matches output in which `…` stands for anything, and on a line of its own for any lines. */
function patternOf(shown: string): RegExp {
  const lines = shown
    .split('\n')
    .map((line) => (line.trim() === '…' ? '(?:.*\n)*?' : `${line.split('…').map(escaped).join('.*')}\n`));
  return new RegExp(`^${lines.join('')}$`);
}

const escaped = (words: string) => words.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

/** Runs programs one after the other in one shell, and returns the output of each. */
async function runInOneShell(programs: readonly string[], environment: NodeJS.ProcessEnv): Promise<string[]> {
  const mark = '=== next block ===';
  const script = ['set -eom pipefail', ...programs.flatMap((program) => [program, `echo '${mark}'`])].join('\n');
  const child = spawn('bash', ['-c', script], { cwd: ROOT, env: environment, stdio: ['ignore', 'pipe', 'pipe'] });
  const [out, errors, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  expect(code, `${out.slice(-3000)}\n${errors}`).toBe(0);
  return out.split(`${mark}\n`).slice(0, -1);
}

async function bytesOf(folder: string): Promise<number> {
  let bytes = 0;
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (entry.isFile()) bytes += (await lstat(path.join(entry.parentPath, entry.name))).size;
  }
  return bytes;
}

it('works as written, from an empty folder', { timeout: LONG_MS }, async () => {
  const site = await startSite({ '/': `<title>Example Domain</title><main><h1>Example Domain</h1>${LINES}</main>` });
  onTestFinished(() => site.close());
  const home = await mkdtemp(path.join(os.tmpdir(), 'lectern-first-hour-'));
  onTestFinished(() => rm(home, { recursive: true, force: true }));
  const port = await freePorts(7);
  const example = site.origin;
  const suited = (code: string) =>
    code
      .replaceAll('https://example.com/', `${example}/`)
      .replaceAll('https://example.com', example)
      .replaceAll(/localhost:300(\d)/g, (_, face) => `127.0.0.1:${port + Number(face)}`);
  const given = Object.entries(process.env).filter(([name]) => !/^(?:LECTERN_|NODE_OPTIONS|VITEST)/.test(name));
  const names = ['READER', 'SEARCH', 'MODEL', 'FLOW', 'FLOW_GRPC', 'ADMIN', 'COMPAT'];
  const environment = {
    ...Object.fromEntries(given),
    // The tests may have been started by a silent npm.
    npm_config_loglevel: 'notice',
    HOME: home,
    LECTERN_DATA_DIR: path.join(home, 'data'),
    LECTERN_ALLOW_NETWORKS: site.allow.join(','),
    ...Object.fromEntries(names.map((name, at) => [`LECTERN_${name}_PORT`, String(port + at)])),
  };
  const steps = stepsOf(examplesOf(PAGE, await readFile(path.join(ROOT, PAGE), 'utf8')));
  const outputs = await runInOneShell(
    steps.map(({ example: { code } }) => suited(code)),
    environment,
  );
  for (const [at, { example: block, shown }] of steps.entries()) {
    if (shown !== undefined) expect.soft(outputs[at], `${PAGE}:${block.line}`).toMatch(patternOf(suited(shown)));
  }
  expect(steps.length).toBeGreaterThan(8);

  const archives = (await readdir(home)).filter((name) => name.endsWith('.tgz')).sort();
  expect(archives).toEqual([expect.stringMatching(/^lectern-\d/), expect.stringMatching(/^lectern-models-\d/)]);
  const [own, models] = await Promise.all(archives.map(async (name) => (await lstat(path.join(home, name))).size));
  expect(own).toBeLessThanOrEqual(MAX_PACKED_BYTES);
  expect(models).toBeLessThanOrEqual(MAX_MODELS_PACKED_BYTES);
  const modules = path.join(home, 'first-hour/node_modules');
  expect(await bytesOf(modules)).toBeLessThanOrEqual(MAX_INSTALLED_BYTES);
});
