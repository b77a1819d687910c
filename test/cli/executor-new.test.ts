/**
 * The files that `lectern executor new` writes run unchanged on this Node version, with the program as users install
 * it.
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { programFile } from '../support/program.ts';

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const RUNS_TYPESCRIPT = Boolean((process.features as { typescript?: unknown }).typescript);
let program: string;
let folder: string;
const env = { ...process.env, NODE_OPTIONS: '' };

beforeAll(async () => {
  program = await programFile();
  folder = mkdtempSync(path.join(os.tmpdir(), 'lectern-new-'));
  mkdirSync(path.join(folder, 'node_modules'));
  symlinkSync(path.dirname(path.dirname(program)), path.join(folder, 'node_modules/lectern'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const lectern = (...args: string[]) =>
  spawnSync(process.execPath, [program, ...args], { cwd: folder, encoding: 'utf8', env });

/** Runs a flow until `use` has finished with its output lines. Returns the exit code. */
async function withFlow(file: string, use: (lines: () => string[]) => Promise<void>): Promise<number | null> {
  const args = [program, 'flow', '--uses', file, '--port', '0', '0'];
  const child = spawn(process.execPath, args, { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] });
  let text = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (text += chunk));
  const exited = once(child, 'exit');
  try {
    await use(() => text.split('\n'));
  } finally {
    child.kill('SIGTERM');
  }
  const [code] = await exited;
  return code as number | null;
}

const urlIn = async (lines: () => string[]): Promise<string> => {
  const found = () =>
    lines()
      .find((line) => line.includes('flow http'))
      ?.match(/http:\S+/)?.[0];
  await expect.poll(found, { timeout: 60_000 }).toBeDefined();
  return found()!;
};

const shout = async (url: string, endpoint = '/shout') => {
  const answer = await fetch(`${url}/post`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ execEndpoint: endpoint, data: [{ text: 'hello' }] }),
  });
  return (await answer.json()) as { header: { requestId: string; status: unknown }; data: { text: string }[] };
};

it('passes its test and answers in its flow', async () => {
  const made = lectern('executor', 'new', 'Shouter', 'mine');
  expect([made.status, made.stdout.trim()]).toEqual([0, path.join(folder, 'mine')]);
  const test = spawnSync(process.execPath, ['--test'], { cwd: path.join(folder, 'mine'), encoding: 'utf8', env });
  expect(test.stdout + test.stderr).toContain('pass 1');
  expect(test.status).toBe(0);
  const code = await withFlow('mine/flow.yml', async (lines) => {
    expect((await shout(await urlIn(lines))).data[0]!.text).toBe('HELLO!');
  });
  expect(code).toBe(0);
});

it('runs in TypeScript, or is refused with advice', async () => {
  const made = lectern('executor', 'new', 'Typed', 'typed', '--language', 'ts');
  expect(made.status).toBe(0);
  expect(made.stderr.includes('does not run TypeScript: use Node 22.18 or newer')).toBe(!RUNS_TYPESCRIPT);
  if (RUNS_TYPESCRIPT) {
    await withFlow('typed/flow.yml', async (lines) => {
      expect((await shout(await urlIn(lines))).data[0]!.text).toBe('HELLO!');
    });
    return;
  }
  const refused = lectern('flow', '--uses', 'typed/flow.yml', '--port', '0', '0');
  expect(refused.status).toBe(1);
  expect(refused.stderr).toContain(
    `typed: executor.ts: Node ${process.versions.node} does not run TypeScript. Use Node 22.18 or newer, or compile it to JavaScript`,
  );
  expect(lectern('executor', '--uses', 'typed/config.yml').stderr).toContain('does not run TypeScript');
});

it('is also refused if an imported module is TypeScript', async () => {
  mkdirSync(path.join(folder, 'mixed'), { recursive: true });
  renameSync(path.join(folder, 'typed/executor.ts'), path.join(folder, 'mixed/typed.ts'));
  writeFileSync(path.join(folder, 'mixed/package.json'), '{"type": "module"}');
  writeFileSync(path.join(folder, 'mixed/executor.js'), "export { Typed } from './typed.ts';\n");
  const flow =
    'jtype: Flow\nwith: {protocol: http, host: 127.0.0.1}\nexecutors:\n  - {uses: Typed, modules: executor.js}\n';
  writeFileSync(path.join(folder, 'mixed/flow.yml'), flow);
  if (RUNS_TYPESCRIPT) return;
  const refused = lectern('flow', '--uses', 'mixed/flow.yml', '--port', '0');
  expect(refused.stderr).toContain('executor.js: Node');
  expect(refused.stderr).toContain('does not run TypeScript');
});

it('logs failures with executor, endpoint, request and stack', async () => {
  writeFileSync(
    path.join(folder, 'failing.mjs'),
    `import { Executor } from 'lectern/flow';
export class Failing extends Executor {
  static requests = { '/shout': 'shout' };
  shout() { throw new RangeError('on purpose'); }
}`,
  );
  writeFileSync(
    path.join(folder, 'failing.yml'),
    'jtype: Flow\nwith: {protocol: [http, grpc], host: 127.0.0.1}\nexecutors:\n  - {name: a, uses: Failing, modules: failing.mjs}\n',
  );
  await withFlow('failing.yml', async (lines) => {
    const { header } = await shout(await urlIn(lines));
    expect(header.status).toMatchObject({ code: 1, exception: { name: 'RangeError', stacks: [] } });
    const logged = () => lines().find((line) => line.includes('an executor failed'));
    await expect.poll(logged, { timeout: 60_000 }).toBeDefined();
    expect(JSON.parse(logged()!)).toMatchObject({
      level: 'error',
      executor: 'a/rep-0',
      endpoint: '/shout',
      requestId: header.requestId,
      error: { type: 'RangeError', message: 'on purpose', stack: expect.stringContaining('failing.mjs') },
    });
  });
});
