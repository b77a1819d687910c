/**
 * The program as installed from its package: packed, unpacked next to only its dependencies, and run. The registry is
 * not involved.
 */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import module from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { startTestHub, type TestHub } from '../../src/models/hub/hub-server.suite.ts';
import { smallModel, writeTestModel } from '../../src/models/onnx/test-model.suite.ts';
import { programFile } from '../support/program.ts';

const run = promisify(execFile);
const ROOT = path.resolve(import.meta.dirname, '../..');
const LONG_MS = 240_000;
const PAGE = '<title>Tea</title><article><h1>Green tea</h1><p>It is drunk hot, and has been for long.</p></article>';

/** Creates a folder in which the packed package is installed. */
async function install(dir: string): Promise<void> {
  const source = path.join(dir, 'source');
  await cp(path.dirname(await programFile()), path.join(source, 'dist'), {
    recursive: true,
    // Links to parts that are built separately.
    filter: (name) => !/[/\\]dist[/\\](?:playground|docs)$/.test(name),
  });
  for (const name of ['package.json', 'README.md', 'LICENSE', 'NOTICE', 'assets'])
    await cp(path.join(ROOT, name), path.join(source, name), { recursive: true });
  await run('npm', ['pack', '--ignore-scripts', '--offline', '--pack-destination', dir], { cwd: source });
  const archive = (await readdir(dir)).find((name) => name.endsWith('.tgz'))!;
  const place = path.join(dir, 'node_modules/lectern');
  await mkdir(place, { recursive: true });
  await run('tar', ['-xzf', path.join(dir, archive), '-C', place, '--strip-components=1']);
  const { dependencies, optionalDependencies = {} } = JSON.parse(
    await readFile(path.join(ROOT, 'package.json'), 'utf8'),
  );
  for (const name of Object.keys({ ...dependencies, ...optionalDependencies })) {
    const link = path.join(dir, 'node_modules', name);
    await mkdir(path.dirname(link), { recursive: true });
    await symlink(path.join(ROOT, 'node_modules', name), link);
  }
  // A package installer does the same.
  await chmod(path.join(place, 'dist/main.js'), 0o755);
  await mkdir(path.join(dir, 'node_modules/.bin'));
  await symlink('../lectern/dist/main.js', path.join(dir, 'node_modules/.bin/lectern'));
  await rm(source, { recursive: true });
}

const TEST_MODEL = {
  id: 'tests-encoder',
  does: 'embed',
  dimensions: 32,
  contextTokens: 64,
  runs: { on: 'onnx', repository: 'tests/encoder' },
};

/** Offers a small model whose weights are random. */
async function offerTestModel({ files }: TestHub, folder: string): Promise<void> {
  const { graph, tokenizer, tokenizerConfig } = await writeTestModel(folder, smallModel().file);
  for (const [name, file] of Object.entries({
    'onnx/model.onnx': graph,
    'tokenizer.json': tokenizer,
    'tokenizer_config.json': tokenizerConfig,
  }))
    files.set(name, { bytes: await readFile(file), large: false });
}

it('reads, embeds, indexes and searches without a checkout', { timeout: LONG_MS }, async () => {
  const dir = await mkdtemp(path.join(os.tmpdir(), 'package-'));
  const hub = await startTestHub('tests/encoder');
  try {
    await install(dir);
    await writeFile(path.join(dir, 'page.html'), PAGE);
    const { LECTERN_URL: _, NODE_OPTIONS: __, ...inherited } = process.env;
    const env = { ...inherited, HOME: dir, XDG_DATA_HOME: path.join(dir, 'data'), LECTERN_BROWSER: 'none' };
    const options = { cwd: dir, env };
    const lectern = async (...args: string[]) =>
      (await run(path.join(dir, 'node_modules/.bin/lectern'), args, options)).stdout;
    expect((await run('npx', ['--no-install', 'lectern', '--version'], options)).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
    // Node 22 and later keep compiled code.
    expect(existsSync(path.join(dir, 'node_modules/lectern/dist/.compiled'))).toBe('enableCompileCache' in module);
    expect(await lectern('read', 'page.html')).toContain('# Green tea\n\nIt is drunk hot');
    expect(JSON.parse(await lectern('embed', 'green tea', '--dimensions', '64', '--json'))[0].embedding).toHaveLength(
      64,
    );
    expect(await lectern('index', 'page.html')).toContain('1 pages');
    expect(await lectern('search', 'tea', '--index', '--respond-with', 'no-content')).toContain('Green tea');
    await offerTestModel(hub, path.join(dir, 'hub'));
    const model = ['--model', 'tests-encoder'];
    Object.assign(env, { LECTERN_MODEL_HUB_URL: hub.url, LECTERN_MODELS: JSON.stringify([TEST_MODEL]) });
    await lectern('models', 'pull', 'tests-encoder');
    expect(JSON.parse(await lectern('embed', 'the water', ...model, '--json'))[0].embedding).toHaveLength(32);
    // Data is stored in the user's data folder, not in the working directory.
    expect(await readdir(path.join(dir, 'data'))).toEqual(['lectern']);
    expect(await readdir(dir)).not.toContain('.lectern');
  } finally {
    await hub.close();
    await rm(dir, { recursive: true, force: true });
  }
});
