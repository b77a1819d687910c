/**
 * Runs the programs in examples/ as their READMEs describe: each command unchanged, with a server of the test. Only the
 * URLs and the key are replaced. The packages that are already installed are used, so `npm install` does nothing.
 */
import { execFile } from 'node:child_process';
import {
  cpSync,
  existsSync,
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
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { type Site, startSite } from './site/site.ts';
import { buildClientPackage } from './support/client-package.ts';
import { examplesOf } from './support/doc-examples.ts';
import { startServer, type TestServer } from './support/server.ts';

const run = promisify(execFile);
const ROOT = path.resolve(import.meta.dirname, '..');
const EXAMPLES = path.join(ROOT, 'examples');
const CLIENTS = path.join(ROOT, 'test/clients/node_modules');
const LONG_MS = 300_000;
/** False if the published clients could not be installed. */
const hasClients = existsSync(path.join(CLIENTS, '.package-lock.json'));

const article = (title: string, text: string) =>
  `<html lang="en"><head><title>${title}</title></head><body><main><h1>${title}</h1><p>${text}</p><p>${title} is one of several pages here, and each of them is about something else.</p></main><nav><a href="/tea">Tea</a> <a href="/bees">Bees</a></nav></body></html>`;
const PAGES = {
  '/': article('Home', 'This is a small site about what happens in the garden, and in the house behind it.'),
  '/tea': article('Tea', 'Tea is served at four in the garden room, unless it rains on the day before.'),
  '/bees': article('Bees', 'Bees find their way home by the sun and by landmarks that they have learnt.'),
};

let site: Site;
let server: TestServer;
let key: string;
let dir: string;
beforeAll(async () => {
  site = await startSite(PAGES);
  const { modelAliases } = parse(blockOf('langchain', 'yaml')) as { modelAliases: Record<string, string> };
  server = await startServer({ browser: 'none', allowNetworks: site.allow, modelAliases, crawlDelayMs: 0 });
  key = server.app.firstKey!;
  dir = mkdtempSync(path.join(os.tmpdir(), 'lectern-examples-'));
  cpSync(EXAMPLES, dir, { recursive: true });
  await buildClientPackage(dir);
  linkPackages(CLIENTS);
  linkPackages(path.join(ROOT, 'node_modules'));
}, LONG_MS);
afterAll(async () => {
  await server?.close();
  await site?.close();
  rmSync(dir, { recursive: true, force: true });
});

/** Links the packages of a folder. Packages that are already linked are not replaced. */
function linkPackages(from: string): void {
  const names = existsSync(from) ? readdirSync(from).filter((name) => !name.startsWith('.')) : [];
  for (const name of names.flatMap((one) =>
    one.startsWith('@') ? readdirSync(path.join(from, one)).map((inner) => `${one}/${inner}`) : [one],
  )) {
    const place = path.join(dir, 'node_modules', name);
    if (existsSync(place)) continue;
    mkdirSync(path.dirname(place), { recursive: true });
    symlinkSync(path.join(from, name), place, 'dir');
  }
}

const readme = (folder: string) => readFileSync(path.join(EXAMPLES, folder, 'README.md'), 'utf8');
const blocksOf = (folder: string, language: string) =>
  examplesOf(`examples/${folder}/README.md`, readme(folder)).filter((block) => block.language === language);
const blockOf = (folder: string, language: string) => {
  const [block] = blocksOf(folder, language);
  if (!block) throw new Error(`${folder} has no block of ${language}`);
  return block.code;
};

/**
 * Replaces the URLs in a text with those of the test. A flow that an example starts itself is like the one that is
 * already served.
 */
function suited(text: string): string {
  const { reader, search, model, flow } = server.urls;
  const urls = { reader, search, models: model, flow };
  const places = { 3000: reader, 3001: search, 3002: model, 3003: flow, 8080: flow };
  // The ports of the test are not consecutive.
  const placed = text.replaceAll("baseUrl: 'http://localhost:3000'", `urls: ${JSON.stringify(urls)}`);
  return Object.entries(places)
    .reduce((now, [port, url]) => now.replaceAll(new RegExp(`(?:http://)?localhost:${port}`, 'g'), url!), placed)
    .replaceAll('https://example.com', site.origin)
    .replaceAll('https://www.rfc-editor.org/rfc/rfc9110.html', `${site.origin}/tea`);
}

const SHELL = `set -eo pipefail
curl() { command curl -sS --fail-with-body --max-time 120 "$@"; echo; }
npm() { [ "$1" = install ]; }
npx() { [ "$1" = tsx ] && shift && "$NODE" "$TSX" "$@"; }
node() { "$NODE" "$@"; }
lectern() { [ "$1" = flow ]; }
`;

/** Returns the output of the commands in a README. */
async function printed(folder: string): Promise<string> {
  const cwd = path.join(dir, folder);
  for (const file of readdirSync(cwd).filter((name) => /\.m(?:js|ts)$/.test(name))) {
    const place = path.join(cwd, file);
    writeFileSync(place, suited(readFileSync(place, 'utf8')));
  }
  const script =
    SHELL +
    blocksOf(folder, 'sh')
      .map(({ code }) => suited(code))
      .join('\n');
  const env = {
    ...process.env,
    NODE: process.execPath,
    TSX: path.join(ROOT, 'node_modules/tsx/dist/cli.mjs'),
    LECTERN_API_KEY: key,
  };
  const { stdout } = await run('bash', ['-c', script], { cwd, env, maxBuffer: 64 * 1024 * 1024 });
  return stdout;
}

/** Examples with separate tests. */
const ELSEWHERE = ['grafana', 'kubernetes'];
const EXPECTED: Record<string, { readonly says: readonly RegExp[]; readonly isThirdParty?: true }> = {
  'openai-sdk': {
    says: [
      /^0\.\d{3} {2}Green tea is made from leaves that were not oxidised\.$/m,
      /Tea is at four/,
      /kettle is never\s+cold/,
    ],
    isThirdParty: true,
  },
  langchain: { says: [/yellow light means that the machine has to be descaled/], isThirdParty: true },
  llamaindex: {
    says: [/^0\.\d{3} {2}Bees find their way home by the sun\.$/m, /Tea is served at four/],
    isThirdParty: true,
  },
  'agent-over-mcp': { says: [/^Tools: .*read_url.*rerank/, /Tea is served at four.*\n\(http:.*\/tea\)/] },
  'crawl-and-ask': {
    says: [/read {5}Bees/, /^3 pages, \d+ tokens$/m, /\/tea\n[\s\S]{0,20}Tea is served at four/, /event: done/],
  },
  client: { says: [/\/tea -> Tea\.md \(\d+ tokens\)/, /\/bees -> Bees\.md/, /README\.md -> README-md\.md/] },
  curl: { says: [/"links":/, /event: data/, /Tea is served at four/, /"relevance_score"/, /"matches":\[\{/] },
  'retrieval-flow': { says: [/"matches":\[\{/, /Tea is served at four/] },
};

it('covers every example', () => {
  const folders = readdirSync(EXAMPLES).filter((name) => !ELSEWHERE.includes(name));
  expect(folders.sort()).toEqual(Object.keys(EXPECTED).sort());
});

describe.each(Object.entries(EXPECTED))('%s', (folder, { says, isThirdParty }) => {
  it.skipIf(isThirdParty && !hasClients)(
    'does what its README says',
    async () => {
      expect(blocksOf(folder, 'sh').length).toBeGreaterThan(0);
      const text = await printed(folder);
      for (const expected of says) expect(text).toMatch(expected);
    },
    LONG_MS,
  );
});

describe('langchain', () => {
  const program = readFileSync(path.join(EXAMPLES, 'langchain/search.mjs'), 'utf8');
  const diff = blockOf('langchain', 'diff').split('\n');

  it('differs from the program for the hosted API in one line', () => {
    const changed = diff.filter((line) => /^[+-]/.test(line));
    expect(changed).toEqual([expect.stringMatching(/^\+ .*baseURL: 'http:\/\/localhost:3002\/v1'/)]);
    expect(program).toContain(diff.map((line) => line.slice(1)).join('\n'));
  });

  it.skipIf(!hasClients)(
    'calls the hosted API without that line',
    async () => {
      const [line] = diff.filter((one) => one.startsWith('+'));
      const before = program.replace(`${line!.slice(1)}\n`, '');
      expect(before.split('\n')).toHaveLength(program.split('\n').length - 1);
      const place = path.join(dir, 'langchain/before.mjs');
      // Nothing is sent. The test only checks the destination.
      const watch =
        'globalThis.fetch = async (address) => { console.log(new URL(address.url ?? address).origin); process.exit(0); };\n';
      writeFileSync(path.join(dir, 'langchain/watch.mjs'), watch);
      writeFileSync(place, before);
      const env = { ...process.env, OPENAI_API_KEY: 'none' };
      const { stdout } = await run(process.execPath, ['--import', './watch.mjs', place], {
        cwd: path.dirname(place),
        env,
      });
      expect(stdout.trim()).toBe('https://api.openai.com');
    },
    LONG_MS,
  );
});
