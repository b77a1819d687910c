/** The set-up's npm fetches the packages of a lock file and sends no other requests to the registry. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { QUIET } from '../../scripts/npm-quiet.mjs';

const LONG_MS = 120_000;
const PACKAGE = { name: 'clay', version: '1.0.0', funding: 'https://clay.example/give' };
const TARBALL = `/${PACKAGE.name}-${PACKAGE.version}.tgz`;

let folder: string;
let registry: Server;
let url: string;
let tarball: Buffer;
const asked: string[] = [];

beforeAll(async () => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'lectern-npm-'));
  registry = createServer((request, response) => {
    asked.push(request.url!);
    request.resume();
    if (request.url === TARBALL) return void response.end(tarball);
    // Metadata of npm itself, for its check whether a newer version exists.
    const facts = {
      name: 'npm',
      'dist-tags': { latest: '99.0.0' },
      versions: { '99.0.0': { name: 'npm', version: '99.0.0' } },
    };
    response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(JSON.stringify(request.url === '/npm' ? facts : {}));
  }).listen(0, '127.0.0.1');
  await once(registry, 'listening');
  url = `http://127.0.0.1:${(registry.address() as AddressInfo).port}`;
  const source = path.join(folder, 'source');
  mkdirSync(source);
  writeFileSync(path.join(source, 'package.json'), JSON.stringify(PACKAGE));
  await npm(source, ['pack', '--pack-destination', folder, '--no-update-notifier']);
  tarball = readFileSync(path.join(folder, TARBALL));
}, LONG_MS);
afterAll(() => {
  registry.close();
  rmSync(folder, { recursive: true, force: true });
});
beforeEach(() => void asked.splice(0));

/** Runs npm as on the machine of a user who has never run it before. */
async function npm(cwd: string, args: readonly string[]): Promise<void> {
  const home = mkdtempSync(path.join(folder, 'home-'));
  const child = spawn('npm', [...args, `--registry=${url}`, `--cache=${path.join(home, 'cache')}`], {
    cwd,
    env: { PATH: process.env.PATH, HOME: home },
    stdio: 'ignore',
  });
  expect((await once(child, 'exit'))[0]).toBe(0);
}

async function install(...flags: readonly string[]): Promise<readonly string[]> {
  const project = mkdtempSync(path.join(folder, 'project-'));
  const { name, version } = PACKAGE;
  const root = { name: 'project', version: '1.0.0', dependencies: { [name]: version } };
  const packages = { '': root, [`node_modules/${name}`]: { version, resolved: `${url}${TARBALL}` } };
  writeFileSync(path.join(project, 'package.json'), JSON.stringify(root));
  writeFileSync(path.join(project, 'package-lock.json'), JSON.stringify({ ...root, lockfileVersion: 3, packages }));
  await npm(project, ['ci', ...flags]);
  return asked.toSorted();
}

it.skipIf(process.platform === 'win32')(
  'fetches packages without reporting anything',
  { timeout: LONG_MS },
  async () => {
    expect(await install(...QUIET)).toEqual([TARBALL]);
  },
);

it.skipIf(process.platform === 'win32')('would report without those flags', { timeout: LONG_MS }, async () => {
  const places = (await install()).join(' ');
  expect(places).toContain('/-/npm/v1/security/');
  expect(places).toMatch(/\/npm( |$)/);
});
