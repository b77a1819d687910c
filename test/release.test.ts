/** What a release needs: `npm run release:check`, the bill of materials, and the workflows. */
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, it, onTestFinished } from 'vitest';
import { parse } from 'yaml';
import packageFile from '../package.json' with { type: 'json' };
import modelsFile from '../packages/models/package.json' with { type: 'json' };
import { contentsProblem } from '../scripts/models-package.mjs';

const run = promisify(execFile);
const ROOT = path.resolve(import.meta.dirname, '..');
/** Packing the models takes seconds, and much longer on a busy machine. */
const LONG_MS = 600_000;
const script = (name: string) => path.join(ROOT, 'scripts/release', name);
const workflow = (name: string) => parse(readFileSync(path.join(ROOT, '.github/workflows', name), 'utf8'));

it('can be published', { timeout: LONG_MS }, async () => {
  const { GITHUB_REF_TYPE: _, ...env } = process.env;
  const check = (more: NodeJS.ProcessEnv = {}) =>
    run(process.execPath, [script('check.mjs'), '--built'], { cwd: ROOT, env: { ...env, ...more } });
  const { stdout } = await check();
  expect(stdout).toMatch(/can be published/);
  const onTag = check({ GITHUB_REF_TYPE: 'tag', GITHUB_REF_NAME: 'v99.0.0' });
  await expect(onTag).rejects.toThrow(/the tag v99\.0\.0 does not name the version/);
});

it('depends on exactly the version of the data that is in packages/models', () => {
  expect(packageFile.dependencies['lectern-models']).toBe(modelsFile.version);
  expect(contentsProblem()).toBeUndefined();
});

it('publishes the data first, and only once for each version', { timeout: LONG_MS }, async () => {
  const published = new Set<string>();
  const registry = createServer((request, response) => {
    const name = request.url!.slice(1).split('?')[0]!;
    if (!published.has(name)) return void response.writeHead(404).end('{}');
    const versions = { [modelsFile.version]: { name, version: modelsFile.version } };
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ name, 'dist-tags': { latest: modelsFile.version }, versions }));
  }).listen(0, '127.0.0.1');
  await once(registry, 'listening');
  onTestFinished(() => void registry.close());
  const cache = await mkdtemp(path.join(os.tmpdir(), 'lectern-publish-'));
  onTestFinished(() => rm(cache, { recursive: true, force: true }));
  const { port } = registry.address() as AddressInfo;
  const env = {
    ...process.env,
    npm_config_registry: `http://127.0.0.1:${port}`,
    npm_config_cache: cache,
    // The tests may have been started by a silent npm.
    npm_config_loglevel: 'notice',
  };
  const publish = async () => {
    const { stdout } = await run(process.execPath, [script('publish.mjs'), '--dry-run', '--ignore-scripts'], {
      cwd: ROOT,
      env,
      maxBuffer: 64 * 1024 * 1024,
    });
    return stdout.split('\n').filter((line) => /^(?:\+|release:) /.test(line));
  };
  const data = `lectern-models@${modelsFile.version}`;
  const program = `lectern@${packageFile.version}`;
  expect(await publish()).toEqual([`+ ${data}`, `+ ${program}`]);
  published.add('lectern-models');
  expect(await publish()).toEqual([`release: ${data.replace('@', ' ')} is already published`, `+ ${program}`]);
});

it('has a bill of materials of everything that users get', { timeout: LONG_MS }, async () => {
  const { stdout } = await run(process.execPath, [script('sbom.mjs')], { cwd: ROOT, maxBuffer: 64 * 1024 * 1024 });
  const sbom = JSON.parse(stdout);
  expect(sbom).toMatchObject({ bomFormat: 'CycloneDX', metadata: { component: { name: 'lectern' } } });
  const names: string[] = sbom.components.map(({ name }: { name: string }) => name);
  // Installed, bundled, and copied.
  for (const name of ['sharp', 'fastify', 'pdfjs-dist', 'onnxruntime-web', 'lectern-models', '@tesseract.js-data/eng'])
    expect(names).toContain(name);
  for (const name of ['vitest', 'typescript', 'onnxruntime-node']) expect(names).not.toContain(name);
  // NOTICE lists the same packages.
  const [, list] = readFileSync(path.join(ROOT, 'NOTICE'), 'utf8').split('Packages that are installed with this one');
  const listed = [...list!.matchAll(/^- (\S+), /gm)].map(([, name]) => name);
  expect([...new Set(names)].sort()).toEqual([...new Set(listed)].sort());
});

it('has workflows that attest where package and container were built', () => {
  const release = workflow('release.yml');
  expect(release.permissions).toMatchObject({ 'id-token': 'write' });
  const commands: string[] = release.jobs.npm.steps.map(({ run: command = '' }: { run?: string }) => command);
  expect(commands).toContain('node scripts/release/publish.mjs --provenance --access public');
  expect(commands.findIndex((command) => command.includes('release:check'))).toBeLessThan(
    commands.findIndex((command) => command.includes('publish.mjs')),
  );
  const container = workflow('container.yml');
  const build = container.jobs.image.steps.find(({ uses = '' }: { uses?: string }) =>
    uses.startsWith('docker/build-push-action@'),
  );
  expect(build.with).toMatchObject({ platforms: 'linux/amd64,linux/arm64', sbom: true, provenance: 'mode=max' });
});
