/** The commands for flows: creating, running and calling executors, and running and exporting flows. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import type { Command } from 'commander';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { executorCommand } from './executor.ts';
import { flowCommand } from './flow.ts';
import { readPairs } from './pairs.ts';
import { pingCommand } from './ping.ts';

const FLOW_INDEX = pathToFileURL(path.resolve(import.meta.dirname, '../flow/index.ts')).href;

let folder: string;
let lines: string[];
let notes: string[];
let stops: (() => Promise<void>)[];
beforeEach(() => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'lectern-flow-commands-'));
  [lines, notes, stops] = [[], [], []];
});
afterEach(async () => {
  for (const stop of stops) await stop();
  rmSync(folder, { recursive: true, force: true });
});

const context = {
  version: '1.2.3',
  environment: { LECTERN_LOG_LEVEL: 'silent' },
  print: (line: string) => void lines.push(line),
  note: (line: string) => void notes.push(line),
  onStop: (stop: () => Promise<void>) => void stops.push(stop),
  onFault: () => {},
};

const run = (command: (given: typeof context) => Command, ...args: string[]) =>
  command(context).parseAsync(args, { from: 'user' });

/** Makes the package available in a folder, as in a user's own project. */
function install(where: string): void {
  const home = path.join(where, 'node_modules', 'lectern');
  mkdirSync(home, { recursive: true });
  writeFileSync(path.join(home, 'flow.js'), `export * from ${JSON.stringify(FLOW_INDEX)};\n`);
  const manifest = { name: 'lectern', type: 'module', exports: { './flow': './flow.js' } };
  writeFileSync(path.join(home, 'package.json'), JSON.stringify(manifest));
}

const urlIn = (text: RegExp) => lines.find((line) => text.test(line))!.match(/\w+:\/\/\S+/)![0];

/**
 * Starts a command in its own process, from the sources. It loads users' modules in the same way as the built program.
 */
async function startProcess(...args: string[]): Promise<void> {
  const child = spawn(
    process.execPath,
    [
      '--conditions=source',
      '--import',
      import.meta.resolve('tsx'),
      path.resolve(import.meta.dirname, '../main.ts'),
      ...args,
    ],
    { cwd: folder, env: { ...process.env, ...context.environment }, stdio: ['ignore', 'pipe', 'inherit'] },
  );
  const exited = once(child, 'exit');
  stops.push(async () => {
    child.kill('SIGTERM');
    expect(await exited).toEqual([0, null]);
  });
  const [line] = await Promise.race([
    once(createInterface({ input: child.stdout }), 'line'),
    exited.then(([code]) => Promise.reject(new Error(`it ended with ${code}`))),
  ]);
  lines.push(String(line));
}

/** Starts a command that runs until it is told to stop. */
async function start(command: (given: typeof context) => Command, ...args: string[]): Promise<void> {
  const running = run(command, ...args);
  let failure: unknown;
  running.catch((error) => {
    failure = error;
  });
  const before = stops.length;
  await expect.poll(() => stops.length > before || failure !== undefined, { timeout: 20_000 }).toBe(true);
  if (failure) throw failure;
}

describe('lectern executor', () => {
  it.each(['ts', 'js'])('new: creates an executor in %s that passes its test', async (language) => {
    const home = path.join(folder, 'mine');
    await run(executorCommand, 'new', 'MyShouter', home, '--language', language);
    expect(lines).toEqual([home]);
    expect(readdirSync(home).sort()).toEqual(
      [
        `executor.${language}`,
        `executor.test.${language}`,
        'config.yml',
        'flow.yml',
        'package.json',
        'tsconfig.json',
      ].sort(),
    );
    expect(JSON.parse(readFileSync(path.join(home, 'package.json'), 'utf8'))).toMatchObject({
      name: 'my-shouter',
      dependencies: { lectern: '^1.2.3' },
    });
    install(home);
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      ['--conditions=source', '--import', import.meta.resolve('tsx'), '--test', `executor.test.${language}`],
      { cwd: home, encoding: 'utf8', env: { PATH: process.env.PATH } },
    );
    expect(stderr + stdout).toContain('pass 1');
    expect(status).toBe(0);
  });

  it('new: refuses invalid class names and non-empty folders', async () => {
    await expect(run(executorCommand, 'new', 'my-thing', folder)).rejects.toThrow('not a class name');
    writeFileSync(path.join(folder, 'file'), '');
    await expect(run(executorCommand, 'new', 'Thing', folder)).rejects.toThrow('is not empty');
  });

  it('serves the new executor to its flow', async () => {
    const home = path.join(folder, 'mine');
    await run(executorCommand, 'new', 'Shouter', home, '--language', 'js');
    install(home);
    await startProcess(
      'executor',
      '--uses',
      path.join(home, 'config.yml'),
      '--name',
      'far',
      '--uses-with',
      'suffix: ?!',
    );
    const address = urlIn(/executor far/);
    await run(pingCommand, 'executor', address, '--timeout', '30000');
    expect(lines.at(-1)).toMatch(/^executor at 127\.0\.0\.1:\d+ answered after \d+ ms$/);

    const file = path.join(folder, 'flow.yml');
    const port = Number(address.split(':').at(-1));
    writeFileSync(
      file,
      `jtype: Flow\nwith: {protocol: [http, grpc], host: 127.0.0.1}\nexecutors:\n  - {name: far, external: true, host: '\${{ ENV.WHERE }}', port: ${port}}\n`,
    );
    await start(flowCommand, '--uses', file, '--env', 'WHERE: 127.0.0.1');
    const url = urlIn(/flow http/);
    const answer = await fetch(`${url}/post`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ execEndpoint: '/shout', data: [{ text: 'hello' }] }),
    });
    expect(((await answer.json()) as { data: { text: string }[] }).data.map(({ text }) => text)).toEqual(['HELLO?!']);
    for (const [what, where] of [
      ['flow', url],
      ['gateway', url],
      ['flow', urlIn(/flow grpc/)],
      ['gateway', urlIn(/flow grpc/)],
    ] as const) {
      await run(pingCommand, what, where, '--timeout', '30000');
      expect(lines.at(-1)).toMatch(new RegExp(`^${what} at .* answered`));
    }
    await stops.shift()!();
    await expect(run(pingCommand, 'flow', url)).rejects.toThrow('0 of 1 attempts succeeded');
    expect(notes.at(-1)).toContain('deployment far');
    await expect(run(pingCommand, 'executor', address)).rejects.toThrow('0 of 1 attempts succeeded');
  });

  it('reports errors before anything starts', async () => {
    await expect(run(executorCommand, '--uses', 'Nothing')).rejects.toThrow('there is no executor Nothing');
    await expect(run(executorCommand, '--port', '70000')).rejects.toThrow('70000 is not a port');
    await expect(run(executorCommand, '--uses-with', 'no pair')).rejects.toThrow('no pair is not KEY: VALUE');
    await expect(run(executorCommand, '--shards', 'two')).rejects.toThrow('whole number');
    await expect(run(flowCommand)).rejects.toThrow('--uses');
    await expect(run(pingCommand, 'flow', 'nowhere')).rejects.toThrow('nowhere is not HOST:PORT');
  });
});

describe('lectern flow export', () => {
  const write = () => {
    const file = path.join(folder, 'flow.yml');
    writeFileSync(file, 'jtype: Flow\nexecutors:\n  - {name: a, uses: A, modules: [a.js]}\n');
    return file;
  };

  it('prints to stdout or writes files', async () => {
    const file = write();
    await run(flowCommand, 'export', 'flowchart', '--uses', file);
    expect(lines.join('\n')).toContain('flowchart LR');
    const output = path.join(folder, 'out');
    await run(
      flowCommand,
      'export',
      'kubernetes',
      '--uses',
      file,
      '--output',
      output,
      '--image',
      'i:1',
      '--namespace',
      'n',
    );
    expect(readdirSync(output).sort()).toEqual(['flow-a.yml', 'flow-gateway.yml']);
    const text = readFileSync(path.join(output, 'flow-a.yml'), 'utf8');
    for (const part of ['image: i:1', 'namespace: n', '- /flow/a.js']) expect(text).toContain(part);
    await run(flowCommand, 'export', 'compose', '--uses', file, '--output', output);
    expect(readFileSync(path.join(output, 'compose.yaml'), 'utf8')).toContain('image: lectern:1.2.3');
  });
});

it('parses KEY: VALUE pairs', () => {
  expect(readPairs(undefined)).toBeUndefined();
  expect(readPairs(['a: 1', 'b: [x, y]', '{c: {d: true}}', '/x: method'])).toEqual({
    a: 1,
    b: ['x', 'y'],
    c: { d: true },
    '/x': 'method',
  });
  for (const wrong of ['', 'a', '- a', '[a']) expect(() => readPairs([wrong])).toThrow('KEY: VALUE');
});
