/**
 * Every example of the documentation is run as it stands: commands by bash, programs by Node, settings by the schema of
 * settings. Only addresses, keys and files are those of the test. What cannot be run here says why, beside the block.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { PDFDocument, StandardFonts } from 'pdf-lib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse as parseYaml } from 'yaml';
import { readConfig } from '#config.ts';
import { readNavigation } from '../scripts/site/pages.ts';
import { type DocExample, examplesOf } from './support/doc-examples.ts';
import { startServer, type TestServer } from './support/server.ts';

const ROOT = path.resolve(import.meta.dirname, '..');
const CLIENTS = path.join(ROOT, 'test/clients');
const ADMIN_SECRET = 'a-secret-of-the-tests';
const LONG_MS = 300_000;

const files = [
  'README.md',
  ...readNavigation(ROOT)
    .flatMap(({ pages }) => pages)
    .filter((file) => file.startsWith('docs/') && !file.includes('decisions')),
];
const examples = new Map(
  await Promise.all(
    files.map(async (file) => [file, examplesOf(file, await readFile(path.join(ROOT, file), 'utf8'))] as const),
  ),
);
const all = [...examples.values()].flat();

/** What a block may be: each is either run or something that is only looked at. */
const RUN = ['sh', 'js', 'ts', 'yaml'];
const SHOWN = ['json', 'text', 'ini', 'nginx', 'python', 'md', 'html', 'sql'];

let server: TestServer;
let site: Server;
let folder: string;
let key: string;

beforeAll(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'lectern-examples-'));
  const pdf = await paper();
  await writeFile(path.join(folder, 'paper.pdf'), pdf);
  site = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://localhost');
    if (pathname.endsWith('.pdf')) response.setHeader('content-type', 'application/pdf').end(pdf);
    else if (pathname.endsWith('.xml')) response.setHeader('content-type', 'application/xml').end(siteMap());
    else if (pathname === '/robots.txt') response.statusCode = 404;
    else response.setHeader('content-type', 'text/html; charset=utf-8').end(article(pathname));
    if (!response.writableEnded) response.end();
  });
  await once(site.listen(0, '127.0.0.1'), 'listening');
  server = await startServer({
    allowNetworks: [`127.0.0.1:${(site.address() as AddressInfo).port}`],
    adminSecret: ADMIN_SECRET,
    adminPort: 0,
  });
  key = server.app.firstKey!;
}, LONG_MS);

afterAll(async () => {
  await server?.close();
  site?.close();
  await rm(folder, { recursive: true, force: true });
});

const siteUrl = () => `http://127.0.0.1:${(site.address() as AddressInfo).port}`;

const siteMap = () =>
  `<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">${['', 'tea', 'bees']
    .map((name) => `<url><loc>${siteUrl()}/${name}</loc></url>`)
    .join('')}</urlset>`;

const article = (pathname: string) =>
  `<!doctype html><html lang="en"><title>Example ${pathname}</title><article><h1>Example of ${pathname}</h1>${'<p>This domain is for examples: how bees find home, and when tea is served, at four.</p>'.repeat(3)}<p>${pathname} alone.</p><a href="/tea">Tea</a> <a href="/bees">Bees</a></article></html>`;

async function paper(): Promise<Uint8Array> {
  const document = await PDFDocument.create();
  const font = await document.embedFont(StandardFonts.Helvetica);
  for (const number of [1, 2, 3])
    document.addPage().drawText(`Page ${number} of a paper about tea.`, { x: 50, y: 700, size: 14, font });
  return document.save();
}

/** The text with the addresses, keys and files of the test. */
function suited(code: string): string {
  const { reader, search, model, flow, admin } = server.urls;
  const ports: [number, string | undefined][] = [
    [3000, reader],
    [3001, search],
    [3002, model],
    [3003, flow],
    [3005, admin],
  ];
  const here = ports.reduce(
    (now, [port, url]) => now.replaceAll(`http://localhost:${port}`, url!).replaceAll(`localhost:${port}`, url!),
    code,
  );
  return here.replaceAll(/https:\/\/(?:www\.)?example\.(?:com|org)/g, siteUrl()).replaceAll(/lectern_…|YOUR_KEY/g, key);
}

const BASH = `set -eo pipefail
curl() { command curl -sS --fail-with-body --max-time 120 "$@"; }
lectern() { "$NODE" "$LECTERN_ROOT/dist/main.js" "$@"; }
`;

async function run(program: string, args: string[], cwd: string) {
  const child = spawn(program, args, {
    cwd,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      ...process.env,
      NODE: process.execPath,
      LECTERN_ROOT: ROOT,
      LECTERN_DATA_DIR: server.dataDir,
      LECTERN_URL: server.reader,
      LECTERN_API_KEY: key,
      LECTERN_ADMIN_SECRET: ADMIN_SECRET,
      KEY: key,
    },
  });
  const [out, errors, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  return { out, errors, code: code as number };
}

async function runExample({ language, code }: DocExample): Promise<void> {
  const program = suited(code);
  if (language === 'yaml') {
    if (!program.startsWith('# lectern.yaml')) return void expect(parseYaml(program)).toBeTruthy();
    const file = path.join(folder, 'lectern.yaml');
    await writeFile(file, program);
    return void expect(readConfig({ flags: { config: file } })).toBeTruthy();
  }
  const told =
    language === 'sh' ? await run('bash', ['-c', BASH + program], folder) : await runModule(program, language);
  expect(told.code, `${told.errors}\n${told.out.slice(0, 2000)}`).toBe(0);
  expect((told.out + told.errors).trim()).not.toBe('');
}

/** Where published clients can be imported from, and `lectern` itself. */
async function runModule(program: string, language: string) {
  const dir = await mkdtemp(path.join(CLIENTS, 'example-'));
  try {
    const file = path.join(dir, language === 'ts' ? 'example.ts' : 'example.mjs');
    await writeFile(
      file,
      program.replaceAll(/'lectern\/(\w+)'/g, (_, part) => `'${ROOT}/dist/${part}/index.js'`),
    );
    const tsx = path.join(ROOT, 'node_modules/tsx/dist/cli.mjs');
    return await run(process.execPath, language === 'ts' ? [tsx, file] : [file], folder);
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

it('knows every block', () => {
  const strange = all.filter(({ language }) => ![...RUN, ...SHOWN].includes(language));
  expect(strange.map(({ file, line, language }) => `${file}:${line} ${language || 'without a language'}`)).toEqual([]);
  expect(all.filter(({ language, notRun }) => language === 'sh' && !notRun).length).toBeGreaterThan(20);
});

describe.each(files.filter((file) => examples.get(file)!.some(({ language }) => RUN.includes(language))))(
  '%s',
  (file) => {
    const runnable = examples.get(file)!.filter(({ language, notRun }) => RUN.includes(language) && !notRun);
    it.each(runnable.map((example) => [example.line, example] as const))(
      'line %i',
      (_, example) => runExample(example),
      LONG_MS,
    );
  },
);
