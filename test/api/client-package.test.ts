/**
 * The client as other programs use it: built into a separate package, imported through the exports of that package,
 * compiled with every declaration checked, and run where nothing else is installed.
 */
import { execFile } from 'node:child_process';
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { chromium } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findBrowser } from '#reader/index.ts';
import { startSite } from '../site/site.ts';
import { buildClientPackage, TSC } from '../support/client-package.ts';
import { SETUP_DATA_DIR, startServer, type TestServer } from '../support/server.ts';

const run = promisify(execFile);
const ROOT = path.resolve(import.meta.dirname, '../..');
const LONG_MS = 240_000;
const MAX_GZIP_BYTES = 15_000;

let dir: string;
let server: TestServer;
const project = (file: string) => path.join(dir, file);
beforeAll(async () => {
  dir = mkdtempSync(path.join(os.tmpdir(), 'lectern-consumer-'));
  await buildClientPackage(dir);
  server = await startServer({ browser: 'none', auth: 'off' });
}, LONG_MS);
afterAll(async () => {
  await server?.close();
  rmSync(dir, { recursive: true, force: true });
});

const CONSUMER = `
import { createClient, LecternError, LecternUnreachable } from 'lectern/client';
import type { Client, Page, ReadOptions } from 'lectern/client';

const [reader = '', models = ''] = process.argv.slice(2);
const client: Client = createClient({ urls: { reader, models }, retries: 0 });

const options: ReadOptions = { retainLinks: 'text', withImagesSummary: true, timeout: 20 };
const { page, meta } = await client.read({ html: '<h1>Tea</h1><p>Green tea is drunk hot.</p>' }, options);
const content: string | undefined = page.content;
const tokens: number = meta.usage.tokens;
let last: Page | undefined;
for await (const event of client.readStream({ html: '<h1>Tea</h1><p>Hot.</p>' })) last = event.page;
const { data } = await client.embed({ input: ['a', 'b'], dimensions: 64 });
const indexes: number[] = data.map(({ index }) => index);
const { results } = await client.rerank({ query: 'tea', documents: ['bread', 'tea'] });

let code: string | number | undefined;
try {
  await client.embed({ model: 'no-such-model', input: 'x' });
} catch (error) {
  if (error instanceof LecternError && !(error instanceof LecternUnreachable)) code = error.code;
}
// @ts-expect-error: no such word
await client.read('https://example.com', { retainLinks: 'some' }).catch(() => {});
// @ts-expect-error: no such option
const wrong: ReadOptions = { withLinkSummary: true };

console.log(JSON.stringify({ content, tokens, title: last?.title, indexes, best: results[0]?.index, code, wrong: Object.keys(wrong) }));
`;

interface Setting {
  readonly module: string;
  readonly moduleResolution: string;
  readonly lib: readonly string[];
  readonly types: readonly string[];
}

async function compile(file: string, { module, moduleResolution, lib, types }: Setting) {
  const compilerOptions = {
    target: 'es2022',
    module,
    moduleResolution,
    lib,
    types,
    typeRoots: [path.join(ROOT, 'node_modules/@types')],
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    skipLibCheck: false,
    outDir: project('out'),
    rootDir: dir,
  };
  writeFileSync(project('tsconfig.json'), JSON.stringify({ compilerOptions, files: [project(file)] }));
  const { stdout } = await run(process.execPath, [TSC, '-p', project('tsconfig.json')]).catch((error) => error);
  expect(stdout).toBe('');
}

describe('a program that uses the package', () => {
  beforeAll(() => {
    writeFileSync(project('package.json'), JSON.stringify({ name: 'consumer', private: true, type: 'module' }));
    writeFileSync(project('program.ts'), CONSUMER);
    writeFileSync(
      project('page.ts'),
      CONSUMER.replace('process.argv.slice(2)', "['http://a.example', 'http://b.example']"),
    );
  });

  it(
    'compiles for Node with all declarations checked, and runs',
    async () => {
      await compile('program.ts', {
        module: 'nodenext',
        moduleResolution: 'nodenext',
        lib: ['es2022'],
        types: ['node'],
      });
      const args = [project('out/program.js'), server.reader, server.urls.model!];
      const { stdout } = await run(process.execPath, args, { cwd: dir });
      expect(JSON.parse(stdout)).toEqual({
        content: expect.stringContaining('Green tea is drunk hot.'),
        tokens: expect.any(Number),
        title: 'Tea',
        indexes: [0, 1],
        best: 1,
        code: 'INPUT_MODEL_NOT_FOUND',
        wrong: ['withLinkSummary'],
      });
    },
    LONG_MS,
  );

  it(
    'compiles as the example of the project does',
    async () => {
      copyFileSync(path.join(ROOT, 'examples/client/read.mts'), project('read.mts'));
      await compile('read.mts', { module: 'nodenext', moduleResolution: 'nodenext', lib: ['es2023'], types: ['node'] });
    },
    LONG_MS,
  );

  it(
    'compiles for browsers and bundlers without the types of Node',
    () =>
      compile('page.ts', {
        module: 'esnext',
        moduleResolution: 'bundler',
        lib: ['es2022', 'dom', 'dom.iterable', 'dom.asynciterable'],
        types: [],
      }),
    LONG_MS,
  );

  it('uses no packages, Node modules or Node globals', () => {
    const place = project('node_modules/lectern/dist/client');
    const files = readdirSync(place).filter((file) => file.endsWith('.js'));
    expect(files.length).toBeGreaterThan(5);
    // The types of the options are generated.
    expect(readdirSync(path.dirname(place)).sort()).toEqual(['client', 'generated']);
    for (const file of files) {
      const text = readFileSync(path.join(place, file), 'utf8');
      const imported = [...text.matchAll(/\b(?:from|import)\s*\(?\s*['"]([^'"]+)['"]/g)].map(([, target]) => target!);
      expect(imported.filter((target) => !target.startsWith('./'))).toEqual([]);
      expect(text).not.toMatch(/\b(?:process|Buffer|require|setImmediate|__dirname)\b(?!')/);
    }
  });

  const bundle = async (contents: string) => {
    const { outputFiles } = await build({
      stdin: { contents, resolveDir: dir },
      bundle: true,
      minify: true,
      format: 'esm',
      platform: 'browser',
      write: false,
      logLevel: 'silent',
    });
    return outputFiles[0]!.contents;
  };

  it('is small, and unused parts can be dropped by a bundler', async () => {
    const whole = gzipSync(await bundle("export * from 'lectern/client'")).byteLength;
    const errors = gzipSync(await bundle("export { LecternError } from 'lectern/client'")).byteLength;
    expect(whole).toBeLessThan(MAX_GZIP_BYTES);
    expect(errors).toBeLessThan(whole / 10);
  });

  const browserAt = findBrowser({ configured: process.env.LECTERN_BROWSER, dataDir: SETUP_DATA_DIR });

  it.skipIf(!browserAt)(
    'runs on a web page of another site',
    async () => {
      const code = Buffer.from(await bundle("export { createClient } from 'lectern/client'")).toString('utf8');
      const site = await startSite({
        '/client.js': ({ response }) => void response.writeHead(200, { 'content-type': 'text/javascript' }).end(code),
        '/page': '<title>Page</title>',
      });
      const browser = await chromium.launch({ executablePath: browserAt!.path, args: ['--no-sandbox'] });
      try {
        const page = await browser.newPage();
        await page.goto(`${site.origin}/page`);
        // Passed as text, because the browser does not understand the code that the test runner compiles.
        const seen = await page.evaluate(`(async () => {
          const { createClient } = await import('/client.js');
          const client = createClient({ urls: { reader: '${server.reader}' } });
          const html = '<h1>Tea</h1><p>Green tea is drunk hot.</p>';
          const file = await client.read({ file: new Blob(['# Tea'], { type: 'text/markdown' }), name: 'tea.md' });
          const events = [];
          for await (const { page } of client.readStream({ html })) events.push(page.title);
          const error = await client.read({ html }, { targetSelector: ':::' }).catch((thrown) => thrown);
          return { content: file.page.content, events, path: error.path };
        })()`);
        expect(seen).toEqual({ content: expect.stringContaining('Tea'), events: ['Tea'], path: 'targetSelector' });
      } finally {
        await browser.close();
        await site.close();
      }
    },
    LONG_MS,
  );
});

it('can also be imported within the repository', async () => {
  mkdirSync(project('linked/node_modules'), { recursive: true });
  symlinkSync(ROOT, project('linked/node_modules/lectern'), 'dir');
  writeFileSync(project('linked/see.mjs'), "console.log(import.meta.resolve('lectern/client'))");
  const { stdout } = await run(process.execPath, [project('linked/see.mjs')]);
  expect(stdout.trim()).toMatch(/dist\/client\/index\.js$/);
});
