/** What a release needs: `npm run release:check`, the bill of materials, and the workflows. */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { parse } from 'yaml';

const run = promisify(execFile);
const ROOT = path.resolve(import.meta.dirname, '..');
const LONG_MS = 120_000;
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

it('has a bill of materials of everything that users get', { timeout: LONG_MS }, async () => {
  const { stdout } = await run(process.execPath, [script('sbom.mjs')], { cwd: ROOT, maxBuffer: 64 * 1024 * 1024 });
  const sbom = JSON.parse(stdout);
  expect(sbom).toMatchObject({ bomFormat: 'CycloneDX', metadata: { component: { name: 'lectern' } } });
  const names: string[] = sbom.components.map(({ name }: { name: string }) => name);
  // Installed, bundled, and copied.
  for (const name of ['sharp', 'fastify', 'pdfjs-dist', 'onnxruntime-web', '@tesseract.js-data/eng'])
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
  expect(commands.some((command) => command.includes('npm publish --provenance'))).toBe(true);
  expect(commands.findIndex((command) => command.includes('release:check'))).toBeLessThan(
    commands.findIndex((command) => command.includes('npm publish')),
  );
  const container = workflow('container.yml');
  const build = container.jobs.image.steps.find(({ uses = '' }: { uses?: string }) =>
    uses.startsWith('docker/build-push-action@'),
  );
  expect(build.with).toMatchObject({ platforms: 'linux/amd64,linux/arm64', sbom: true, provenance: 'mode=max' });
});
