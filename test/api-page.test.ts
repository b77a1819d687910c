/** The interactive description of the APIs at /docs/api: it works in a real browser, with a key, without other hosts. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest';
import { axeFindings } from './support/axe.ts';
import { launchBrowser, openWatchedPage, type WatchedPage } from './support/browser-page.ts';
import { startServer, type TestServer } from './support/server.ts';

const LONG = 180_000;
vi.setConfig({ testTimeout: LONG });

let browser: Browser;
let server: TestServer;
let watched: WatchedPage | undefined;
beforeAll(async () => {
  server = await startServer({ browser: 'none' });
  browser = await launchBrowser();
}, LONG);
afterAll(async () => {
  await browser?.close();
  await server?.close();
});
afterEach(async () => {
  const { complaints = [], requests = [] } = watched ?? {};
  await watched?.page.context().close();
  watched = undefined;
  expect(complaints).toEqual([]);
  const own = new Set([...Object.values(server.urls), server.reader]);
  expect(requests.filter((url) => !url.startsWith('data:') && !own.has(new URL(url).origin))).toEqual([]);
});

async function open(query = '', colorScheme: 'light' | 'dark' = 'light'): Promise<Page> {
  watched = await openWatchedPage(browser, { colorScheme });
  await watched.page.goto(`${server.reader}/docs/api${query}`);
  await watched.page.locator('.opblock-tag').first().waitFor();
  return watched.page;
}

/** Opens an operation, sends it with a body, and returns the row of the response. */
async function execute(page: Page, id: string, body?: object) {
  const operation = page.locator(`[id="${id}"]`);
  await operation.locator('button.opblock-summary-control').click();
  if (body) await operation.locator('textarea.body-param__text').fill(JSON.stringify(body));
  await operation.getByRole('button', { name: 'Execute' }).click();
  const row = operation.locator('.live-responses-table tbody tr').first();
  await row.waitFor();
  return row.innerText();
}

it('sends a read from the page', async () => {
  const page = await open();
  const text = await execute(page, 'operations-Reader-reader_post_root', { html: '<h1>Hello</h1><p>World</p>' });
  expect(text).toMatch(/^200[\s\S]*# Hello/);
  // Swagger UI would send every default, and the reader would warn of those without an effect.
  expect(text).not.toMatch(/^Warning:/m);
});

it('authorizes with a key', async () => {
  const page = await open('?api=models');
  const embed = { model: 'lectern-static-v2', input: ['Tap water is safe.'] };
  const id = await page.locator('[id^="operations-"][id*="embeddings"]').first().getAttribute('id');
  expect(await execute(page, id!, embed)).toMatch(/^401/);
  await page.locator('.auth-wrapper .authorize').click();
  await page.locator('.auth-container input').fill(server.app.firstKey!);
  await page.locator('.auth-container button[type=submit]').click();
  await page.locator('.auth-container .btn-done').click();
  await page.locator(`[id="${id}"]`).getByRole('button', { name: 'Execute' }).click();
  await page.locator(`[id="${id}"] .live-responses-table`, { hasText: '"embedding"' }).waitFor();
});

it('takes over the key of the playground', async () => {
  const page = await open();
  await page.evaluate(`sessionStorage.setItem('lectern.apiKey', ${JSON.stringify(server.app.firstKey)})`);
  await page.goto(`${server.reader}/docs/api?api=search`);
  await page.locator('.auth-wrapper .authorize.locked').waitFor();
});

it('offers every API', async () => {
  const page = await open();
  const choice = page.getByRole('combobox', { name: 'API' });
  const titles = await choice.locator('option').allInnerTexts();
  expect(titles).toEqual(['Reader', 'Search', 'Models', 'Flow gateway', 'Other clients']);
  for (const [name, title] of [
    ['search', 'Lectern search'],
    ['models', 'Lectern model host'],
    ['flow', 'My Jina Service'],
    ['compat', 'Lectern for other clients'],
  ] as const) {
    await choice.selectOption(name);
    await page.getByRole('heading', { level: 1, name: new RegExp(title, 'i') }).waitFor();
    expect(new URL(page.url()).search).toBe(`?api=${name}`);
  }
});

it.each(['light', 'dark'] as const)('has no findings of axe, %s', async (scheme) => {
  const page = await open('', scheme);
  expect(await axeFindings(page)).toEqual([]);
  await page.locator('button.opblock-summary-control').last().click();
  await page.locator('.opblock.is-open').waitFor();
});
