// Own process: it draws an SVG with sharp, which servers forbid in their process.
/**
 * Runs every example of the documentation unchanged: commands in bash, and programs in Node. Settings and flows are
 * parsed as the server parses them. Only URLs, keys and files are replaced with those of the test. A comment before a
 * block says why it cannot be run.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { PDFDocument, StandardFonts } from 'pdf-lib';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse as parseYaml } from 'yaml';
import { readConfig, SETTING_NAMES } from '#config.ts';
import { docx } from '#documents/office/word/docx.suite.ts';
import { parseFlow } from '#flow/definition/yaml.ts';
import { readNavigation } from '../scripts/site/pages.ts';
import { type DocExample, examplesOf } from './support/doc-examples.ts';
import { freePorts } from './support/free-ports.ts';
import { programFile } from './support/program.ts';
import { shareBrowser, startServer, type TestServer } from './support/server.ts';

const ROOT = path.resolve(import.meta.dirname, '..');
const LECTERN = await programFile();
const CLIENTS = path.join(ROOT, 'test/clients');
const ADMIN_SECRET = 'a-secret-of-the-tests';
const LONG_MS = 300_000;

const files = [
  'README.md',
  ...readNavigation(ROOT)
    .flatMap(({ pages }) => pages)
    // The first hour has a test of its own.
    .filter((file) => file.startsWith('docs/') && !/decisions|first-hour/.test(file)),
];
const examples = new Map(
  await Promise.all(
    files.map(async (file) => [file, examplesOf(file, await readFile(path.join(ROOT, file), 'utf8'))] as const),
  ),
);
const all = [...examples.values()].flat();

/** Languages of blocks that are run. Blocks in other languages are only shown. */
const TRIED = ['sh', 'js', 'ts', 'yaml', 'json'];
const SHOWN = ['text', 'ini', 'nginx', 'python', 'md', 'html', 'sql'];

let server: TestServer;
let site: Server;
let folder: string;
let key: string;
/** The port of the reader. The other APIs use the ports after it, as in the documentation. */
let port: number;

beforeAll(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'lectern-examples-'));
  const [pdf, picture] = [await paper(), await scan()];
  site = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://localhost');
    const send = (type: string, body: string | Uint8Array) => response.setHeader('content-type', type).end(body);
    if (pathname === '/robots.txt') response.writeHead(404).end();
    else if (pathname.endsWith('.pdf')) send('application/pdf', pdf);
    else if (pathname.endsWith('.png')) send('image/png', picture);
    else if (pathname.endsWith('.xml')) send('application/xml', siteMap());
    else send('text/html; charset=utf-8', article(pathname));
  });
  await once(site.listen(0, '127.0.0.1'), 'listening');
  await writeFiles(pdf, picture);
  port = await freePorts(8);
  server = await startServer({
    allowNetworks: allowed(),
    readerPort: port,
    searchPort: port + 1,
    modelPort: port + 2,
    flowPort: port + 3,
    flowGrpcPort: port + 4,
    adminPort: port + 5,
    compatPort: port + 6,
    metricsPort: port + 7,
    adminSecret: ADMIN_SECRET,
    crawlDelayMs: 0,
  });
  key = server.app.firstKey!;
}, LONG_MS);

afterAll(async () => {
  await server?.close();
  site?.close();
  await rm(folder, { recursive: true, force: true });
});

const siteUrl = () => `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
const allowed = () => [new URL(siteUrl()).host];

const siteMap = () =>
  `<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">${['', 'tea', 'bees']
    .map((name) => `<url><loc>${siteUrl()}/${name}</loc></url>`)
    .join('')}</urlset>`;

const article = (pathname: string) =>
  `<!doctype html><html lang="en"><title>Example ${pathname}</title><article><h1>Example of ${pathname}</h1>${'<p>This domain is for examples: what a reader is, how bees find home, and when green tea is served, at four.</p>'.repeat(3)}<p>${pathname} alone.</p><a href="${pathname.replace(/\/?$/, '/')}tea">Tea</a> <a href="/bees">Bees</a></article></html>`;

async function paper(): Promise<Uint8Array> {
  const document = await PDFDocument.create();
  const font = await document.embedFont(StandardFonts.Helvetica);
  for (const number of [1, 2, 3])
    document.addPage().drawText(`Page ${number} of a paper about tea.`, { x: 50, y: 700, size: 24, font });
  return document.save();
}

const scan = (): Promise<Buffer> =>
  sharp(
    Buffer.from(
      '<svg xmlns="http://www.w3.org/2000/svg" width="640" height="120"><rect width="640" height="120" fill="white"/><text x="20" y="80" font-family="sans-serif" font-size="48">Tea is served at four</text></svg>',
    ),
  )
    .png()
    .toBuffer();

/** Writes the files that the examples read into the folder in which the examples run. */
async function writeFiles(pdf: Uint8Array, picture: Uint8Array): Promise<void> {
  const lines = [
    { custom_id: 'a', body: { input: 'green tea' } },
    { custom_id: 'b', body: { input: 'a hot drink' } },
  ];
  const contents: Record<string, string | Uint8Array> = {
    'paper.pdf': pdf,
    'report.pdf': pdf,
    'report.docx': docx('<w:p><w:r><w:t>A report about tea.</w:t></w:r></w:p>'),
    'contract.pdf': pdf,
    'scan.png': picture,
    'addresses.txt': `# two pages\n${siteUrl()}/tea\n\n${siteUrl()}/bees\n`,
    'lines.txt': 'green tea\na hot drink\n',
    'lines.jsonl': lines.map((line) => `${JSON.stringify(line)}\n`).join(''),
  };
  for (const [name, content] of Object.entries(contents)) await writeFile(path.join(folder, name), content);
  for (const home of ['.local/share/bash-completion/completions', '.zfunc', '.config/fish/completions'])
    await mkdir(path.join(folder, home), { recursive: true });
}

/** Replaces the URLs, keys and files in an example with those of the test. */
const suited = (code: string): string =>
  code
    .replaceAll(/localhost:300(\d)/g, (_, face) => `127.0.0.1:${port + Number(face)}`)
    .replaceAll('127.0.0.1:9464', `127.0.0.1:${port + 7}`)
    .replaceAll('https://r.example.com', server.reader)
    .replaceAll('site=example.org', 'site=127.0.0.1')
    .replaceAll(/https:\/\/(?:(?:www|docs)\.)?example(?:\.com|\.org)?(?=[/'"\s]|$)/gm, siteUrl())
    .replaceAll(/lectern_…|YOUR_KEY/g, key);

const BASH = `set -eo pipefail
curl() { command curl -sS --fail-with-body --max-time 120 "$@"; }
lectern() { "$NODE" "$LECTERN_PROGRAM" "$@"; }
`;

/** Only the README's commands work without a server. Each of them starts its own browser, threads and database. */
const worksAlone = (file: string): boolean => file === 'README.md';

async function run(program: string, args: string[], environment: Record<string, string> = {}) {
  const child = spawn(program, args, {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      ...process.env,
      HOME: folder,
      NODE: process.execPath,
      LECTERN_PROGRAM: LECTERN,
      LECTERN_DATA_DIR: server.dataDir,
      LECTERN_ALLOW_NETWORKS: allowed().join(','),
      LECTERN_API_KEY: key,
      LECTERN_ADMIN_SECRET: ADMIN_SECRET,
      KEY: key,
      ...environment,
    },
  });
  const [out, errors, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  return { out, errors, code: code as number };
}

async function tryExample({ file, language, code }: DocExample): Promise<void> {
  if (language === 'yaml') return readSettings(code);
  if (language === 'json') return readJson(code);
  if (language !== 'sh') return runModule(suited(code), language);
  const program = suited(code);
  const told = await run('bash', ['-c', BASH + program], worksAlone(file) ? {} : { LECTERN_URL: server.reader });
  // `lectern browser remove` removes the link to the browser of the set-up, which later examples need.
  if (!existsSync(path.join(server.dataDir, 'browser'))) shareBrowser(server.dataDir);
  expect(told.code, `${told.errors}\n${told.out.slice(0, 2000)}`).toBe(0);
  const written = [...program.matchAll(/(?: > |-o )(\S+)/g)].map(([, file]) => file!.replace('~', folder));
  for (const file of written) expect((await stat(path.resolve(folder, file))).size, file).toBeGreaterThan(0);
  if (written.length === 0) expect((told.out + told.errors).trim()).not.toBe('');
}

async function readSettings(code: string): Promise<void> {
  const value = parseYaml(code) as Record<string, unknown>;
  if ('executors' in value) return void expect(parseFlow(code).deployments).not.toEqual([]);
  const names = Object.keys(value);
  expect(names).not.toEqual([]);
  if (!names.some((name) => (SETTING_NAMES as string[]).includes(name))) return;
  const file = path.join(folder, 'lectern.yaml');
  await writeFile(file, code);
  expect(readConfig({ flags: { config: file } })).toMatchObject({ [names[0]!]: expect.anything() });
}

/** A block contains one JSON value, or one per line. */
function readJson(code: string): void {
  const values = /^[{[]$/m.test(code) ? [code] : code.split('\n');
  for (const value of values) expect(() => JSON.parse(value), value).not.toThrow();
}

/** Runs a module in a folder from which it can import the published clients; `lectern` is the built client. */
async function runModule(program: string, language: string): Promise<void> {
  const dir = await mkdtemp(path.join(CLIENTS, 'example-'));
  try {
    const file = path.join(dir, language === 'ts' ? 'example.ts' : 'example.mjs');
    await writeFile(
      file,
      program.replaceAll(/'lectern\/(\w+)'/g, (_, part) => `'${path.dirname(LECTERN)}/${part}/index.js'`),
    );
    const tsx = path.join(ROOT, 'node_modules/tsx/dist/esm/index.mjs');
    const told = await run(process.execPath, language === 'ts' ? ['--import', tsx, file] : [file]);
    expect(told.code, told.errors).toBe(0);
    if (program.includes('console.log(')) expect(told.out.trim()).not.toBe('');
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

it('knows the language of every block', () => {
  const strange = all.filter(({ language }) => ![...TRIED, ...SHOWN].includes(language));
  expect(strange.map(({ file, line, language }) => `${file}:${line} ${language || 'without a language'}`)).toEqual([]);
  expect(all.filter(({ language, notRun }) => language === 'sh' && !notRun).length).toBeGreaterThan(30);
});

/** Whether all lines of the example also occur in an earlier one of the same kind. */
function isRepeated({ language, code }: DocExample, at: number, examples: readonly DocExample[]): boolean {
  const earlier = new Set(
    examples
      .slice(0, at)
      .filter((other) => language === 'sh' && other.language === 'sh')
      .flatMap((other) => other.code.split('\n')),
  );
  return code.split('\n').every((line) => earlier.has(line));
}

const tried = all
  .filter(({ language, notRun }) => TRIED.includes(language) && !notRun)
  .filter((...one) => !isRepeated(...one));

describe.each([...new Set(tried.map(({ file }) => file))])('%s', (file) => {
  const here = tried.filter((example) => example.file === file);
  it.each(here.map((example) => [example.line, example] as const))(
    'line %i',
    (_, example) => tryExample(example),
    LONG_MS,
  );
});
