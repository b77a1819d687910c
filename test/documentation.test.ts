/** The documentation site: it contains every page, its links work, and its search finds options, settings and errors. */
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { type Browser, chromium } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { environmentName, SETTING_NAMES } from '#config.ts';
import { PROBLEMS } from '#errors.ts';
import { attribute, elements } from '#html/node.ts';
import { parseDocument } from '#html/parse.ts';
import { findBrowser, OPTIONS } from '#reader/index.ts';
import { searchIndex, siteFiles } from '../scripts/site/build.ts';
import { openSearch } from '../scripts/site/find.ts';
import { BASE, readNavigation, sitePages } from '../scripts/site/pages.ts';
import { SETUP_DATA_DIR, startServer, type TestServer } from './support/server.ts';

const ROOT = path.resolve(import.meta.dirname, '..');
/** The index is loaded when the search field gets the focus. */
const MOST_INDEX_BYTES = 320_000;
const pages = sitePages(ROOT);
const files = await siteFiles(pages);

describe('the site', () => {
  it('has every page of docs/', () => {
    const written = readdirSync(path.join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.md'))
      .map((file) => `docs/${file.replaceAll(path.sep, '/')}`);
    const listed = readNavigation(ROOT).flatMap((section) => section.pages);
    expect(written.filter((file) => !listed.includes(file))).toEqual([]);
    expect(new Set(listed).size).toBe(listed.length);
  });

  it('has a title and a summary for each page', () => {
    expect(pages.filter(({ title, summary }) => !title || summary.length < 20).map(({ slug }) => slug)).toEqual([]);
    expect(new Set(pages.map(({ title }) => title)).size).toBe(pages.length);
  });

  it('has no broken link', () => {
    const trees = new Map(
      [...files].filter(([name]) => name.endsWith('.html')).map(([name, text]) => [name, parseDocument(text)] as const),
    );
    const ids = new Map(
      [...trees].map(([name, tree]) => [name, new Set([...elements(tree)].map((element) => attribute(element, 'id')))]),
    );
    const broken: string[] = [];
    let count = 0;
    for (const [name, tree] of trees) {
      for (const link of elements(tree, 'a')) {
        const href = attribute(link, 'href');
        if (href === null || /^https?:|^mailto:/.test(href)) continue;
        count++;
        const { pathname, hash } = new URL(href, `http://localhost${BASE}${name.replace(/(index)?\.html$/, '')}`);
        const rest = pathname.slice(BASE.length);
        const page = href.startsWith('#') ? name : `${rest.replace(/\/$/, '') || 'index'}.html`;
        const known = files.has(rest) || files.has(page) || ['/playground', '/docs/api'].includes(pathname);
        const anchored = !hash || ids.get(page)?.has(decodeURIComponent(hash.slice(1)));
        if (!known || !anchored) broken.push(`${name}: ${href}`);
      }
    }
    expect(count).toBeGreaterThan(500);
    expect(broken).toEqual([]);
  });

  it('lists every page for language models', () => {
    const llms = files.get('llms.txt')!;
    expect(llms).toMatch(/^# Lectern\n\n> /);
    for (const { title, slug } of pages) expect(llms).toContain(`[${title}](${BASE}${slug || 'index'}.md)`);
    for (const { markdown } of pages) expect(files.get('llms-full.txt')).toContain(markdown.trim());
  });
});

describe('its search', () => {
  const search = openSearch(JSON.parse(JSON.stringify(searchIndex(pages))));
  const firstOf = (query: string) => search(query)[0]?.url;

  it.each(Object.keys(OPTIONS))('finds the option %s', (name) => {
    expect(firstOf(name)).toBe(`${BASE}reference/options#${name}`);
  });

  it.each(SETTING_NAMES.map(environmentName))('finds the setting %s', (name) => {
    expect(firstOf(name)).toBe(`${BASE}reference/config#${name}`);
  });

  it.each(Object.keys(PROBLEMS))('finds the error %s', (name) => {
    expect(search(name).some(({ url }) => url.startsWith(`${BASE}reference/errors#`))).toBe(true);
  });

  it.each([
    ['docker', 'guide/self-hosting#docker-and-compose'],
    ['dokcer', 'guide/self-hosting#docker-and-compose'],
    ['browser sandbox', 'guide/security#browser-sandbox'],
    ['sandbx', 'guide/security#browser-sandbox'],
    ['embeding', 'guide/embeddings#embeddings-and-reranking'],
    ['rerankk', 'reference/cli#lectern-rerank'],
    ['kubern', 'guide/self-hosting#kubernetes'],
    ['open webui', 'guide/use-with/open-webui#open-webui'],
    ['n8n', 'guide/use-with/n8n#n8n'],
    ['claude', 'guide/use-with/mcp-clients#claude-and-other-mcp-clients'],
    ['what is the browser sandbox?', 'guide/security#browser-sandbox'],
    ['withlinksumary', 'reference/options#withLinksSummary'],
  ])('leads for “%s” to %s', (query, url) => {
    expect(firstOf(query)).toBe(BASE + url);
  });

  it('has a small index', () => {
    expect(gzipSync(files.get('search.json')!).length).toBeLessThan(MOST_INDEX_BYTES);
  });

  it('finds words in any order, and nothing for unknown words', () => {
    expect(firstOf('summary links with')).toBe(`${BASE}reference/options#withLinksSummary`);
    expect(search('zyzzyva')).toEqual([]);
    expect(search('  ')).toEqual([]);
  });
});

describe('in a browser', () => {
  let server: TestServer;
  let browser: Browser;
  beforeAll(async () => {
    const found = findBrowser({ configured: process.env.LECTERN_BROWSER, dataDir: SETUP_DATA_DIR });
    if (!found) throw new Error('these tests need a browser: run node scripts/browser.mjs');
    browser = await chromium.launch({
      executablePath: found.path,
      args: ['--no-sandbox'],
      env: { ...(process.env as Record<string, string>), ...found.env },
    });
    server = await startServer({ browser: 'none' });
  }, 120_000);
  afterAll(async () => {
    await browser?.close();
    await server?.close();
  });

  const open = async (address: string, width = 1280) => {
    const tab = await browser.newPage({ viewport: { width, height: 900 } });
    const complaints: string[] = [];
    tab.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
    tab.on('pageerror', (error) => complaints.push(error.message));
    await tab.goto(server.reader + address);
    return { tab, complaints };
  };

  it('leads from the first page to an option with the keyboard alone', { timeout: 60_000 }, async () => {
    const { tab, complaints } = await open('/docs');
    await tab.keyboard.press('/');
    await tab.keyboard.type('with generated alt');
    await tab.locator('#found-0').waitFor();
    await tab.keyboard.press('ArrowDown');
    expect(await tab.locator('#query').getAttribute('aria-activedescendant')).toBe('found-0');
    await tab.keyboard.press('Enter');
    await tab.waitForURL('**/docs/reference/options#withGeneratedAlt');
    expect(await tab.locator('tr:target').innerText()).toContain('withGeneratedAlt');
    expect(complaints).toEqual([]);
    await tab.close();
  });

  it('corrects a typing error, and closes the results with Escape', { timeout: 60_000 }, async () => {
    const { tab, complaints } = await open('/docs/guide/reading');
    await tab.keyboard.press('/');
    await tab.keyboard.type('embeding');
    await tab.getByRole('option', { name: 'Embeddings and reranking' }).first().waitFor();
    await tab.keyboard.press('Escape');
    expect(await tab.locator('#found').isVisible()).toBe(false);
    await tab.keyboard.type('s');
    await tab.locator('#found-0').waitFor();
    await tab.keyboard.press('Enter');
    await tab.waitForURL(/\/docs\/.*#/);
    expect(complaints).toEqual([]);
    await tab.close();
  });

  it('copies code with a button', { timeout: 60_000 }, async () => {
    const { tab, complaints } = await open('/docs/guide/reading');
    await tab.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    const block = tab.locator('.code-block').first();
    await block.hover();
    await block.getByRole('button', { name: 'Copy' }).click();
    await block.getByRole('button', { name: 'Copied' }).waitFor();
    const copied: string = await tab.evaluate('navigator.clipboard.readText()');
    expect(copied).toBe((await block.locator('pre').innerText()).trimEnd());
    expect(complaints).toEqual([]);
    await tab.close();
  });

  it('fits into 360, 768 and 1280 pixels', { timeout: 120_000 }, async () => {
    const { tab, complaints } = await open('/docs/', 360);
    for (const { slug } of pages) {
      await tab.goto(`${server.reader}/docs/${slug}`);
      for (const width of [360, 768, 1280]) {
        await tab.setViewportSize({ width, height: 800 });
        const wide = await tab.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');
        expect(wide, `${slug} at ${width} pixels`).toBe(0);
      }
      expect(complaints, slug).toEqual([]);
    }
    await tab.close();
  });

  it('serves Markdown and llms.txt, and no file outside the site', async () => {
    const ask = async (address: string) => {
      const answer = await fetch(server.reader + address);
      return { status: answer.status, type: answer.headers.get('content-type'), text: await answer.text() };
    };
    expect(await ask('/docs/guide/reading.md')).toMatchObject({ status: 200, type: 'text/markdown; charset=utf-8' });
    expect((await ask('/llms.txt')).text).toBe(files.get('llms.txt'));
    expect((await ask('/docs/')).text).toBe(files.get('index.html'));
    for (const address of ['/docs/nothing', '/docs/..%2f..%2fpackage.json', '/docs/..%2fmain.js'])
      expect((await ask(address)).status, address).toBe(404);
  });
});
