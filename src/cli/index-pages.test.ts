// Full run only: starts a server in the process.
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { indexCommand } from './index-pages.ts';

let dataDir: string;
let site: http.Server;
let base: string;
let asked: string[];
let notes: string[];
let broken: boolean;

const text = (about: string) =>
  `<html><head><title>About ${about}</title></head><body><article><h1>About ${about}</h1><p>${`All that can be said of ${about} is said here. `.repeat(20)}</p>`;

beforeEach(async () => {
  dataDir = await mkdtemp(path.join(os.tmpdir(), 'index-pages-'));
  asked = [];
  broken = false;
  site = http.createServer(({ url = '' }, response) => {
    asked.push(url);
    const html = (body: string) => response.setHeader('content-type', 'text/html').end(body);
    if (url === '/robots.txt') return response.end('User-agent: *\nDisallow: /private');
    if (url === '/sitemap.xml')
      return response.end(
        `<?xml version="1.0"?><sitemapindex xmlns="x"><sitemap><loc>${base}/pages.xml.gz</loc></sitemap></sitemapindex>`,
      );
    if (url === '/pages.xml.gz') {
      const pages = ['pears', 'plums', 'private'].map((name) => `<url><loc> ${base}/${name}?a=1&amp;b=2 </loc></url>`);
      return response.end(gzipSync(`<urlset>${pages.join('')}</urlset>`));
    }
    if (url === '/')
      return html(`${text('the start')}<a href="/apples">Apples</a> <a href="http://other.test/">x</a></article>`);
    if (url === '/apples')
      return html(`${text('apples')}<a href="/deep">Deep</a> <a href="/private">Private</a></article>`);
    if (url === '/lost') {
      response.statusCode = 404;
      return html(`${text('nothing')}</article>`);
    }
    if (url === '/hidden') return html(`<meta name="ROBOTS" content="NOINDEX">${text('secrets')}</article>`);
    if (url === '/links')
      return html(
        `${text('links')}<a href="/lost">Lost</a> <a href="/hidden">Hidden</a> <a href="/plums">Plums</a></article>`,
      );
    if (broken && url.startsWith('/plums')) return response.destroy();
    return html(`${text(url.slice(1).split('?')[0]!)}</article>`);
  });
  await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
  base = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
});

afterEach(async () => {
  site.closeAllConnections();
  site.close();
  await rm(dataDir, { recursive: true, force: true });
});

let environment: Record<string, string> = {};
afterEach(() => {
  environment = {};
});

async function run(...args: string[]) {
  const out: string[] = [];
  notes = [];
  const stop = new AbortController();
  const command = indexCommand({
    version: '0.0.0',
    environment: {
      LECTERN_DATA_DIR: dataDir,
      LECTERN_BROWSER: 'none',
      LECTERN_ALLOW_NETWORKS: '127.0.0.1',
      ...environment,
    },
    print: (line) => out.push(line),
    note: (line) => notes.push(line),
    rewrite: () => {
      if (stopsEarly) stop.abort();
    },
    width: () => 80,
    readInput: async () => '',
    signal: stop.signal,
  });
  await command.parseAsync([...args, '--delay', '1', '--json'], { from: 'user' });
  return JSON.parse(out.join('\n')) as {
    filled?: Record<string, number>;
    pruned?: number;
    stats: { pages: number };
  };
}
let stopsEarly = false;

const LONG = 120_000;

it(
  'reads a page, and pages of its host up to the depth',
  async () => {
    const { filled, stats } = await run(`${base}/`, '--depth', '1');
    expect(filled).toMatchObject({ added: 2, failed: 0 });
    expect(stats.pages).toBe(2);
    expect(asked).not.toContain('/deep');
  },
  LONG,
);

it(
  'reads the pages of a sitemap except those that robots.txt forbids',
  async () => {
    const { filled, stats } = await run(`${base}/sitemap.xml`);
    expect(filled).toMatchObject({ added: 2, refused: 1, failed: 0 });
    expect(stats.pages).toBe(2);
    expect(asked).toContain('/pears?a=1&b=2');
    expect(asked.some((url) => url.startsWith('/private'))).toBe(false);
    expect(notes.find((line) => line.includes('refused'))).toContain('robots.txt');
    expect(await run('--stats')).toMatchObject({ stats: { pages: 2 } });
    expect(await run('--prune', '1')).toMatchObject({ pruned: 2, stats: { pages: 0 } });
  },
  LONG,
);

it(
  'leaves out pages at secret URLs and says so, unless everything is shared',
  async () => {
    const secret = `${base}/pears?token=abc`;
    expect(await run(secret)).toMatchObject({ filled: { added: 0, refused: 1 }, stats: { pages: 0 } });
    expect(notes.join()).toContain('its URL is secret');
    environment = { LECTERN_INDEX_SHARED: 'all' };
    expect(await run(secret)).toMatchObject({ filled: { added: 1, refused: 0 }, stats: { pages: 1, onlyAll: 1 } });
  },
  LONG,
);

it(
  'reads the files of a folder, and clears the index',
  async () => {
    const folder = path.join(dataDir, 'files');
    await mkdir(path.join(folder, 'below'), { recursive: true });
    await writeFile(path.join(folder, 'a.md'), '# Quinces\n\nQuinces are yellow.');
    await writeFile(path.join(folder, 'below', 'b.html'), `${text('medlars')}</article>`);
    await writeFile(path.join(folder, '.hidden.md'), 'Nobody reads this.');
    const { filled, stats } = await run(folder);
    expect(filled).toMatchObject({ added: 2, failed: 0 });
    expect(stats.pages).toBe(2);
    expect((await run('--clear')).stats.pages).toBe(0);
  },
  LONG,
);

it(
  'resumes after an interruption',
  async () => {
    stopsEarly = true;
    await expect(run(`${base}/sitemap.xml`)).rejects.toThrow('to continue');
    stopsEarly = false;
    asked = [];
    broken = true;
    const { filled } = await run(`${base}/sitemap.xml`);
    expect(filled).toMatchObject({ before: 1, failed: 1, refused: 1 });
    expect(asked.some((url) => url.startsWith('/pears'))).toBe(false);
  },
  LONG,
);

it(
  'reports invalid arguments',
  async () => {
    await expect(run()).rejects.toThrow('nothing to do');
    await expect(run(path.join(dataDir, 'nowhere'))).rejects.toThrow('neither a URL nor');
  },
  LONG,
);

it('skips missing pages and pages that forbid indexing', async () => {
  const told = await run(`${base}/links`, '--depth', '1', '--delay', '0');
  expect(asked).toContain('/lost');
  expect(asked).toContain('/hidden');
  expect(told.filled).toMatchObject({ added: 2, refused: 2, failed: 0 });
  expect(told.stats.pages).toBe(2);
  expect(notes.join('\n')).toMatch(/refused \S+\/lost \(answered with 404\)/);
  expect(notes.join('\n')).toMatch(/refused \S+\/hidden \(asks not to be indexed\)/);
}, 60_000);
