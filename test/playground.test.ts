/** The playground in a real browser with a real server: every tab, and hostile pages. */
import { existsSync } from 'node:fs';
import path from 'node:path';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { A4, drawnPage, drawText, RIVERS } from '#ocr/drawn-pages.suite.ts';
import { type Site, startSite } from './site/site.ts';
import { launchBrowser, openWatchedPage, type WatchedPage } from './support/browser-page.ts';
import { startServer, type TestServer } from './support/server.ts';

const BUILT = path.resolve(import.meta.dirname, '../dist/playground');
const MOST_LOADED_BYTES = 150_000;
const LONG = 180_000;
vi.setConfig({ testTimeout: LONG });

const PROSE = 'Glaze is a layer of glass on a pot, and it cracks when it shrinks more than the clay does. '.repeat(4);
const GLAZE = `<!doctype html><html lang="en"><head><title>Why glaze cracks</title></head><body>
<nav><a href="/">Home</a> <a href="/pots">Pots</a></nav><main><h1>Why glaze cracks</h1><p>${PROSE}</p>
<p style="display:none">hidden words</p><ul><li>Add <a href="/silica">silica</a></li></ul><p>${PROSE}</p></main>
<footer>All rights reserved</footer></body></html>`;
/** If any part of this page is executed or loaded, it sends a request to the site or changes the page title. */
const HOSTILE = (origin: string) => `<main><h1>Hostile</h1><p>${PROSE}</p>
<script>top.document.title='ran'</script><img src="${origin}/tracker.png" onerror="top.document.title='ran'">
<img src="x" onerror="alert(1)"><iframe src="${origin}/tracker.html"></iframe><a href="javascript:alert(1)">click</a>
<svg onload="alert(1)"><a xlink:href="javascript:alert(1)"><text>svg</text></a></svg><form action="${origin}/tracker"><button>go</button></form>
<style>@import url(${origin}/tracker.css); body{background:url(${origin}/tracker.png)}</style><meta http-equiv="refresh" content="0;url=${origin}/tracker">
<p style="background:url(${origin}/tracker.png)">${PROSE}</p><base href="${origin}/"><object data="${origin}/tracker"></object></main>`;

let browser: Browser;
let site: Site;
let server: TestServer;
let watched: WatchedPage | undefined;
let hostileText = '';
let releaseSecond = () => {};

beforeAll(async () => {
  if (!existsSync(path.join(BUILT, 'index.html'))) throw new Error('the playground is not built: npm run build');
  const second = new Promise<void>((resolve) => {
    releaseSecond = resolve;
  });
  site = await startSite({
    '/glaze': GLAZE,
    '/hostile.txt': ({ response }) => response.writeHead(200, { 'content-type': 'text/plain' }).end(hostileText),
    '/first': `<title>First page</title><main><h1>First page</h1><p>${PROSE}</p><a href="/second">Second</a></main>`,
    '/second': async ({ response }) => {
      await second;
      response.writeHead(200, { 'content-type': 'text/html' });
      response.end(`<title>Second page</title><main><h1>Second page</h1><p>${PROSE} More.</p></main>`);
    },
    '/stalled': ({ response }) => {
      response.writeHead(200, { 'content-type': 'text/html' }).write('<p>');
    },
  });
  server = await startServer({ allowNetworks: site.allow.join(','), auth: 'off' });
  browser = await launchBrowser();
}, LONG);
afterAll(async () => {
  await browser?.close();
  await server?.close();
  await site?.close();
});
afterEach(async () => {
  const complaints = watched?.complaints;
  await watched?.page.context().close();
  watched = undefined;
  expect(complaints ?? []).toEqual([]);
});

async function open(fragment = '', options: BrowserContextOptions = {}, reader = server.reader): Promise<Page> {
  watched = await openWatchedPage(browser, options);
  const { page } = watched;
  await page.goto(`${reader}/playground${fragment}`);
  await page.getByRole('form', { name: 'Request' }).waitFor();
  return page;
}

const tab = (page: Page, name: string) => page.getByRole('tab', { name, exact: true });
const panel = (page: Page) => page.locator('#view-panel');
/** The page renders a moment after it has got something. */
const WAIT = { timeout: 20_000 };
const panelText = (page: Page) => expect.poll(() => panel(page).innerText(), WAIT);
const textbox = (page: Page, name: string) => page.getByRole('textbox', { name, exact: true });
/** Finds the control of an option with the search field. */
async function option(page: Page, name: string) {
  await page.getByRole('searchbox', { name: 'Search options by name or meaning' }).fill(name);
  return page.getByLabel(name, { exact: true });
}
const send = (page: Page) => page.keyboard.press('Control+Enter');
const ended = (page: Page, state: string) => page.locator('.status .state', { hasText: state }).waitFor();

async function read(page: Page, address = `${site.origin}/glaze`): Promise<void> {
  await textbox(page, 'URL').fill(address);
  await send(page);
  await ended(page, 'Done');
}

describe('the served page', () => {
  it('loads nothing from other origins and cannot be framed', async () => {
    const answer = await fetch(`${server.reader}/playground`);
    const policy = answer.headers.get('content-security-policy')!;
    const html = await answer.text();
    expect(answer.headers.get('cache-control')).toBe('no-cache');
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("frame-ancestors 'none'");
    const { search, model, compat, flow } = server.urls;
    expect(policy).toContain(`connect-src 'self' ${search} ${model} ${compat} ${flow};`);
    expect(policy).not.toContain('unsafe');
    expect(html).not.toMatch(/<style|<script>|style=|https?:/);
    const files = [...html.matchAll(/"(\/playground\/[^"]+)"/g)].map(([, file]) => file!);
    expect(files).toHaveLength(2);
    for (const file of files) {
      const asset = await fetch(server.reader + file);
      expect([asset.status, asset.headers.get('cache-control')]).toEqual([200, 'public, max-age=31536000, immutable']);
      expect(asset.headers.get('content-type')).toMatch(/^text\/(?:javascript|css)/);
    }
    expect((await fetch(`${server.reader}/playground/..%2f..%2fpackage.json`)).status).toBe(404);
    expect((await fetch(`${server.reader}/playground/index.html`)).status).toBe(404);
  });

  it('takes less than 150 kB to load', async () => {
    watched = await openWatchedPage(browser);
    const { page } = watched;
    const session = await page.context().newCDPSession(page);
    await session.send('Network.enable');
    let bytes = 0;
    session.on('Network.loadingFinished', ({ encodedDataLength }) => {
      bytes += encodedDataLength;
    });
    await page.goto(`${server.reader}/playground`, { waitUntil: 'networkidle' });
    await page.getByRole('form', { name: 'Request' }).waitFor();
    expect(bytes).toBeGreaterThan(20_000);
    expect(bytes).toBeLessThan(MOST_LOADED_BYTES);
  });

  it('puts no invalid host into its policy', async () => {
    const answer = await server.app.faces.reader.inject({
      url: '/playground',
      headers: { host: "evil.test; script-src 'unsafe-inline'" },
    });
    expect(answer.headers['content-security-policy']).not.toMatch(/unsafe|evil/);
  });

  it('has the URLs of the faces behind one port and behind a public URL', async () => {
    const faces = async (settings: Record<string, unknown>, host: string) => {
      const other = await startServer({ browser: 'none', ...settings });
      try {
        const answer = await other.app.faces.reader.inject({ url: '/playground/setup.json', headers: { host } });
        return answer.json().faces;
      } finally {
        await other.close();
      }
    };
    expect(await faces({ publicUrl: 'https://r.lectern.test' }, 'x')).toEqual({
      reader: 'https://r.lectern.test',
      search: 'https://s.lectern.test',
      models: 'https://api.lectern.test',
      compat: 'https://compat.lectern.test',
      flow: 'https://flow.lectern.test',
    });
    expect(await faces({ publicUrl: 'https://lectern.test' }, 'x')).toEqual({
      reader: 'https://lectern.test',
      search: null,
      models: null,
      compat: null,
      flow: null,
    });
  });
});

describe('reading', () => {
  it('shows a page rendered, raw and as JSON, with tokens, time and engine', async () => {
    const page = await open();
    await read(page);
    await panel(page).getByRole('heading', { name: 'Why glaze cracks' }).waitFor();
    const link = panel(page).getByRole('link', { name: 'silica' });
    expect(await link.getAttribute('rel')).toContain('noopener');
    await expect
      .poll(() => page.getByRole('status').innerText(), WAIT)
      .toMatch(/Status\s+200\s+Time\s+[\d.]+ m?s[\s\S]+Tokens\s+\d+[\s\S]+direct/);
    await tab(page, 'Raw').click();
    await panelText(page).toContain('[silica](');
    await tab(page, 'JSON').click();
    const meta = panel(page).getByRole('button', { name: /^data:/ });
    expect(await meta.getAttribute('aria-expanded')).toBe('true');
    await meta.click();
    await panelText(page).toMatch(/data: \{\s*\d+ fields\s*\}/);
  });

  it('reads pasted HTML and a file', async () => {
    const page = await open();
    await page.getByRole('radio', { name: 'HTML' }).check();
    await textbox(page, 'HTML').fill('<h1>Pasted</h1><p>Some words.</p>');
    await send(page);
    await panel(page).getByRole('heading', { name: 'Pasted' }).first().waitFor();
    await page.getByRole('radio', { name: 'File' }).check();
    await page
      .getByLabel('File: PDF')
      .setInputFiles({ name: 'a.html', mimeType: 'text/html', buffer: Buffer.from(GLAZE) });
    await send(page);
    await panel(page).getByRole('heading', { name: 'Why glaze cracks' }).waitFor();
  });

  it('shows streamed events and the trace', async () => {
    const page = await open();
    await page.getByRole('radio', { name: 'Stream' }).check();
    await page.getByRole('checkbox', { name: 'trace' }).check();
    await read(page);
    await panel(page).getByRole('heading', { name: 'Why glaze cracks' }).waitFor();
    await tab(page, 'Events')
      .or(page.getByRole('tab', { name: /^Events/ }))
      .first()
      .click();
    await expect.poll(() => panel(page).locator('.events > li').count(), WAIT).toBeGreaterThan(1);
    await tab(page, 'Trace').click();
    await expect.poll(() => panel(page).locator('rect').count(), WAIT).toBeGreaterThan(1);
  });

  it('explains removed elements on request', async () => {
    const page = await open();
    await read(page);
    await tab(page, 'Removed').click();
    await page.getByRole('button', { name: 'Explain this answer' }).click();
    const rule = panel(page).locator('.rule', { hasText: 'hidden' });
    await rule.click();
    await panel(page).getByText('hidden words').waitFor();
    await expect.poll(() => panel(page).locator('.blocks tbody tr').count(), WAIT).toBeGreaterThan(2);
  });

  it(
    'shows a picture of the page',
    async () => {
      const page = await open();
      await page.getByLabel('respondWith', { exact: true }).fill('screenshot');
      await read(page);
      const shot = panel(page).getByRole('img');
      await shot.waitFor();
      await expect
        .poll(() => shot.evaluate((image) => (image as unknown as { naturalWidth: number }).naturalWidth), {
          timeout: 20_000,
        })
        .toBeGreaterThan(500);
    },
    LONG,
  );

  it('stops', async () => {
    const page = await open();
    await textbox(page, 'URL').fill(`${site.origin}/stalled`);
    await send(page);
    await page.getByRole('button', { name: 'Stop' }).waitFor();
    await page.keyboard.press('Escape');
    await ended(page, 'Stopped');
    await read(page);
  });
});

describe('options', () => {
  it('are searchable, sent if changed, and can be reset', async () => {
    const page = await open();
    await page.locator('h1').click();
    await page.keyboard.press('/');
    await page.keyboard.type('numbered citations');
    await expect
      .poll(() => page.locator('[data-option]').evaluateAll((all) => all.map((one) => one.dataset.option)), WAIT)
      .toEqual(['retainLinks']);
    await page.getByLabel('retainLinks', { exact: true }).selectOption('none');
    const asked = page.waitForRequest((request) => request.method() === 'POST');
    await read(page);
    const headers = (await asked).headers();
    expect(headers['x-retain-links']).toBe('none');
    expect(Object.keys(headers).filter((name) => name.startsWith('x-'))).toEqual(['x-retain-links']);
    await tab(page, 'Raw').click();
    await panel(page).locator('pre').waitFor();
    expect(await panel(page).innerText()).not.toContain('silica');
    await page.getByRole('button', { name: 'Reset retainLinks' }).click();
    await read(page);
    await panelText(page).toContain('[silica](');
  });

  it('all have a group, a meaning and, if any, a default', async () => {
    const answer = await fetch(`${server.reader}/playground/setup.json`);
    const { forms } = (await answer.json()) as { forms: Record<string, Record<string, string>[]> };
    for (const fields of Object.values(forms)) {
      expect(fields.filter(({ group }) => group === 'Further options').map(({ name }) => name)).toEqual([]);
      expect(fields.filter(({ meaning }) => !meaning).map(({ name }) => name)).toEqual([]);
    }
    const kinds = Object.fromEntries(forms.read!.map(({ name, kind }) => [name, kind]));
    expect(kinds).toMatchObject({
      retainLinks: 'choice',
      withIframe: 'flag',
      maxTokens: 'number',
      targetSelector: 'list',
      customHeader: 'json',
      'markdown.headingStyle': 'choice',
      'viewport.width': 'number',
    });
  });

  it('are filled by a preset', async () => {
    const page = await open();
    await page.getByRole('radio', { name: 'index' }).check();
    await read(page);
    await panel(page).locator('.frontmatter').waitFor();
    const field = page.locator('[data-option=respondWith]');
    expect(await field.innerText()).toContain('"frontmatter" by the preset');
  });

  it('are named if invalid', async () => {
    const page = await open();
    await page.getByLabel('maxTokens', { exact: true }).fill('3');
    await textbox(page, 'URL').fill(`${site.origin}/glaze`);
    await send(page);
    await panel(page).getByRole('alert').getByText('maxTokens must be at least 500').waitFor();
    expect(await page.getByLabel('maxTokens', { exact: true }).getAttribute('aria-invalid')).toBe('true');
    await page.getByLabel('maxTokens', { exact: true }).fill('many');
    await send(page);
    await page.getByRole('alert').getByText('maxTokens must be a number').waitFor();
  });
});

describe('the other faces', () => {
  it('search, and ask the index', async () => {
    const page = await open();
    await read(page);
    // Retries the search, because a page is indexed shortly after it was read.
    const find = async (name: string, words: string) => {
      await tab(page, name).click();
      await textbox(page, name === 'Search' ? 'Query' : 'Question').fill(words);
      const found = panel(page).locator('.results li', { hasText: 'Why glaze cracks' });
      const tried = async () => {
        await send(page);
        await page.locator('.status .state', { hasText: /Done|Failed/ }).waitFor();
        return found.count();
      };
      await expect.poll(tried, { timeout: 30_000 }).toBe(1);
    };
    await find('Search', 'glaze');
    await expect.poll(() => page.getByRole('status').innerText(), WAIT).toContain('Provider');
    await find('Ask the index', 'why does glaze crack');
    await panelText(page).toContain('shrinks more than the clay');
    await expect.poll(() => panel(page).locator('.results details[open]').count(), WAIT).toBe(1);
  });

  it('crawl, with pages and progress as they come', async () => {
    const page = await open('#tab=crawl');
    await textbox(page, 'Start URLs, one per line').fill(`${site.origin}/first`);
    await (await option(page, 'delayMs')).fill('0');
    await (await option(page, 'options.retainLinks')).selectOption('none');
    const asked = page.waitForRequest((request) => request.method() === 'POST');
    await send(page);
    expect((await asked).postDataJSON()).toMatchObject({ options: { retainLinks: 'none' }, cancelOnClose: true });
    // The second page is held back until the first one is shown.
    await panel(page).locator('.results li', { hasText: 'First page' }).waitFor();
    const status = page.getByRole('status');
    await status.getByText('Running').waitFor();
    await status.getByText(/^1 of 2 URLs$/).waitFor();
    expect(await status.getByRole('progressbar').getAttribute('max')).toBe('2');
    const timeOf = () => status.locator('dl > div', { hasText: 'Time' }).locator('dd').innerText();
    const before = await timeOf();
    await expect.poll(timeOf, { timeout: 20_000 }).not.toBe(before);
    releaseSecond();
    await ended(page, 'Done');
    await panel(page).locator('.results li', { hasText: 'Second page' }).waitFor();
    await expect.poll(() => status.innerText(), WAIT).toContain('2 of 2 URLs');
  });

  it('embed a batch', async () => {
    const page = await open('#tab=batch');
    await textbox(page, 'Texts, one per line').fill('The cat sleeps\nKittens nap');
    await page.getByLabel('Model', { exact: true }).locator('option').first().waitFor({ state: 'attached' });
    await send(page);
    await ended(page, 'Done');
    await expect.poll(() => page.getByRole('status').innerText(), WAIT).toContain('2 of 2 lines');
    await expect.poll(() => panel(page).locator('.vectors .words').allInnerTexts(), WAIT).toEqual(['line-1', 'line-2']);
  });

  it('send documents through the flow', async () => {
    const page = await open('#tab=flow');
    await textbox(page, 'Endpoint').fill('/index');
    await textbox(page, 'Documents: texts or URLs, one per line').fill(`${site.origin}/glaze`);
    await send(page);
    await ended(page, 'Done');
    await textbox(page, 'Endpoint').fill('/search');
    await textbox(page, 'Documents: texts or URLs, one per line').fill('why does glaze crack');
    await send(page);
    await ended(page, 'Done');
    await panel(page).locator('.results .results li', { hasText: 'shrinks more than the clay' }).first().waitFor();
  });

  it('embed and compare texts', async () => {
    const page = await open();
    await tab(page, 'Embed').click();
    await textbox(page, 'Texts, one per line').fill('The cat sleeps\nKittens nap\n\nInterest rates rise');
    await page.getByLabel('Model', { exact: true }).locator('option').first().waitFor({ state: 'attached' });
    await send(page);
    await ended(page, 'Done');
    const cells = await panel(page).locator('.near tbody td').allInnerTexts();
    expect(cells).toHaveLength(9);
    expect([cells[0], cells[4], cells[8]]).toEqual(['1.00', '1.00', '1.00']);
    expect(Number(cells[1])).toBeGreaterThan(Number(cells[2]));
  });

  it('rerank documents', async () => {
    const page = await open();
    await tab(page, 'Rerank').click();
    await textbox(page, 'Query').fill('why does glaze crack');
    await textbox(page, 'Documents, one per line').fill('Bees find home\nGlaze cracks when it shrinks');
    await page.getByLabel('Model', { exact: true }).locator('option').first().waitFor({ state: 'attached' });
    await send(page);
    await ended(page, 'Done');
    await expect
      .poll(() => panel(page).locator('.ranking .words').allInnerTexts(), WAIT)
      .toEqual(['Glaze cracks when it shrinks', 'Bees find home']);
  });

  it('recognize a picture, complete and streamed', async () => {
    const page = await open();
    page.setDefaultTimeout(LONG);
    await tab(page, 'Recognize').click();
    const buffer = drawnPage({ ...A4, height: 300 }, (context) => {
      drawText(context, RIVERS.slice(0, 60), { left: 120, top: 120, width: 900, size: 34 });
    });
    await page.getByLabel('Image or PDF').setInputFiles({ name: 'rivers.png', mimeType: 'image/png', buffer });
    await page.getByLabel('Model', { exact: true }).locator('option').first().waitFor({ state: 'attached' });
    for (const form of ['JSON', 'Stream']) {
      await page.getByRole('radio', { name: form }).check();
      await send(page);
      await ended(page, 'Done');
      await panelText(page).toContain('Rivers carry sediment');
    }
  });
});

describe('failures', () => {
  it('of a forbidden URL', async () => {
    const page = await open();
    await textbox(page, 'URL').fill('http://10.0.0.1/');
    await send(page);
    const alert = panel(page).getByRole('alert');
    await alert.getByText('SecurityCompromiseError').waitFor();
    expect(await alert.innerText()).toMatch(/Request\s+[\w-]{8,}/);
  });

  it('of an incomplete form', async () => {
    const page = await open();
    await send(page);
    await page.getByRole('alert').getByText('Enter the URL of a page.').waitFor();
    expect(await textbox(page, 'URL').getAttribute('aria-invalid')).toBe('true');
  });

  it('of a stream', async () => {
    const page = await open();
    await page.getByRole('radio', { name: 'Stream' }).check();
    await textbox(page, 'URL').fill(`${site.origin}/glaze`);
    await (await option(page, 'targetSelector')).fill('.absent');
    await send(page);
    await ended(page, 'Failed');
    await panel(page).getByRole('alert').waitFor();
  });

  it('of an unreachable server', async () => {
    const away = await startServer({ browser: 'none' });
    const page = await open('', {}, away.reader);
    await textbox(page, 'URL').fill('https://example.test/');
    await away.close();
    await send(page);
    await panel(page).getByRole('alert').getByText(`No response from ${away.reader}`).waitFor();
  });

  describe('with keys', () => {
    let keyed: TestServer;
    beforeAll(async () => {
      keyed = await startServer({ browser: 'none', allowNetworks: site.allow.join(',') });
    });
    afterAll(() => keyed.close());

    it('says how to get one and keeps it only in the tab', async () => {
      const page = await open('', {}, keyed.reader);
      await tab(page, 'Embed').click();
      await textbox(page, 'Texts, one per line').fill('The cat sleeps');
      await page.getByLabel('Model', { exact: true }).locator('option').first().waitFor({ state: 'attached' });
      expect(await page.getByLabel('API key').getAttribute('placeholder')).toBe('required');
      await send(page);
      await panel(page).getByRole('alert').getByText('lectern keys mint').waitFor();
      await page.getByLabel('API key').fill(`wrong${'x'.repeat(40)}`);
      await send(page);
      await panel(page).getByRole('alert').getByText('AUTH_INVALID_API_KEY').waitFor();
      const key = keyed.app.firstKey!;
      await page.getByLabel('API key').fill(key);
      await send(page);
      await panel(page).locator('.vectors li').waitFor();
      await tab(page, 'Code').click();
      await panelText(page).toContain('$LECTERN_API_KEY');
      expect(await page.evaluate('document.body.innerText + location.href')).not.toContain(key);
      expect(await page.evaluate('JSON.stringify(Object.entries(localStorage)) + document.cookie')).not.toContain(key);
      await page.reload();
      expect(await page.getByLabel('API key').inputValue()).toBe(key);
    });
  });
});

describe('untrusted content', () => {
  it('as a document runs no script, loads nothing and does not navigate', async () => {
    const page = await open();
    await page.getByRole('radio', { name: 'HTML' }).check();
    await textbox(page, 'HTML').fill(HOSTILE(site.otherOrigin));
    await page.getByLabel('respondWith', { exact: true }).fill('html');
    await send(page);
    const frame = panel(page).locator('iframe');
    await frame.waitFor();
    expect([await frame.getAttribute('sandbox'), await frame.getAttribute('src')]).toEqual(['', null]);
    const inside = page.frameLocator('#view-panel iframe');
    await inside.getByRole('heading', { name: 'Hostile' }).waitFor();
    expect(await inside.locator('script, iframe, [href^=javascript], [onerror], [onload]').count()).toBe(0);
    await inside.getByText('click').click();
    expect(await page.title()).toBe('Lectern playground');
    expect(watched!.requests.filter((url) => url.startsWith(site.otherOrigin) || url.includes('tracker'))).toEqual([]);
  });

  it('as Markdown runs no script', async () => {
    const page = await open();
    await page.getByRole('radio', { name: 'Text' }).check();
    await page.getByRole('radio', { name: 'HTML' }).check();
    // Page text that contains Markdown and HTML.
    const attack = `[a](javascript:alert(1)) ![b](${site.otherOrigin}/tracker.png) <img src=x onerror=alert(1)> <script>alert(1)</script>`;
    const escaped = attack.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
    await textbox(page, 'HTML').fill(`<main><p>${escaped} ${PROSE}</p>${HOSTILE(site.otherOrigin)}</main>`);
    await (await option(page, 'retainMedia')).selectOption('html');
    await send(page);
    await ended(page, 'Done');
    await panel(page).getByText('Glaze is a layer').first().waitFor();
    const kept = await panel(page)
      .locator('.prose *')
      .evaluateAll((all) => [...new Set(all.map((one) => one.localName))]);
    expect(kept).toContain('p');
    expect(kept).not.toEqual(
      expect.arrayContaining([expect.stringMatching(/^(?:script|iframe|form|svg|style|object|meta|base)$/)]),
    );
    const links = await panel(page)
      .locator('a')
      .evaluateAll((all) => all.map((one) => one.protocol));
    expect(links.filter((protocol) => !/^(?:https?|mailto):$/.test(String(protocol)))).toEqual([]);
    expect(watched!.requests.filter((url) => url.includes('tracker'))).toEqual([]);
  });

  it('is shown as text if rendering takes too long', async () => {
    const page = await open();
    const wide = `${'|a'.repeat(2_000)}|\n${'|-'.repeat(2_000)}|\n${'|1|\n'.repeat(10_000)}`;
    for (const hostile of ['>'.repeat(1_000), wide]) {
      await textbox(page, 'URL').fill(`${site.origin}/hostile.txt?${hostile.length}`);
      hostileText = hostile;
      await send(page);
      await ended(page, 'Done');
      await tab(page, 'Raw').click();
      await panel(page)
        .locator('.raw', { hasText: hostile.slice(0, 20) })
        .waitFor();
      await tab(page, 'Answer').click();
    }
    await panel(page).getByText('too large to render').waitFor();
    expect(await panel(page).locator('pre.text').innerText()).toContain(wide.slice(0, 20));
    await read(page);
    await panel(page).getByText('Glaze is a layer').first().waitFor();
    await expect.poll(() => panel(page).getByText('too large to render').count(), { timeout: 20_000 }).toBe(0);
    await expect.poll(() => panel(page).locator('.prose p').count(), WAIT).toBeGreaterThan(0);
  });

  it('is shown in part if large', async () => {
    const page = await open();
    await page.getByRole('radio', { name: 'HTML' }).check();
    const rows = Array.from({ length: 4_000 }, (_, row) => `<p>Row ${row}. ${PROSE.slice(0, 90)}</p>`).join('');
    await textbox(page, 'HTML').fill(`<main>${'<div>'.repeat(300)}<h1>Long</h1>${rows}</main>`);
    await send(page);
    await ended(page, 'Done');
    await panel(page).getByRole('button', { name: 'more characters' }).waitFor();
    await tab(page, 'JSON').click();
    await panel(page).getByRole('button', { name: 'characters' }).first().waitFor();
    expect(await page.locator('*').count()).toBeLessThan(3_000);
  });
});

describe('the URL fragment', () => {
  it('holds the state and triggers no request', async () => {
    const page = await open();
    await textbox(page, 'URL').fill(`${site.origin}/glaze?a=1&b=ü`);
    await (await option(page, 'setCookies')).fill('session=secret');
    await (await option(page, 'retainLinks')).selectOption('text');
    await page.getByRole('radio', { name: 'Stream' }).check();
    await expect
      .poll(() => page.evaluate('location.hash'), { timeout: 30_000 })
      .toMatch(/answer=stream.*opt\.retainLinks=text/);
    const fragment: string = await page.evaluate('location.hash');
    expect(fragment).not.toContain('secret');
    await page.context().close();
    const other = await open(fragment);
    expect(await textbox(other, 'URL').inputValue()).toBe(`${site.origin}/glaze?a=1&b=ü`);
    expect(await (await option(other, 'retainLinks')).inputValue()).toBe('text');
    expect(await other.getByRole('radio', { name: 'Stream' }).isChecked()).toBe(true);
    await tab(other, 'Code').click();
    expect(await other.locator('pre[data-language]').innerText()).toContain("'X-Retain-Links: text'");
    expect(watched!.requests.filter((url) => new URL(url).pathname === '/')).toEqual([]);
  });

  it('is ignored if invalid', async () => {
    const page = await open('#tab=<img>&in.url=%ff&opt.__proto__=1&opt.engine=<script>alert(1)</script>&tab=read');
    await read(page);
  });
});

describe('with private networks allowed and no keys', () => {
  const ask = async (face: 'reader' | 'search', headers: Record<string, string>) => {
    const url = face === 'search' ? '/search?q=glaze' : `/${site.origin}/glaze`;
    const { statusCode } = await server.app.faces[face].inject({
      url,
      headers: { 'user-agent': 'Mozilla/5.0', ...headers },
    });
    return statusCode === 403 ? 'refused' : 'served';
  };
  const portOf = (name: string) => new URL(server.urls[name]!).port;

  it('the search host serves this page under any local name', async () => {
    for (const name of ['127.0.0.1', 'localhost', '[::1]', 'workshop']) {
      const headers = { origin: `http://${name}:${portOf('reader')}`, host: `${name}:${portOf('search')}` };
      expect([name, await ask('search', { ...headers, 'sec-fetch-site': 'same-site' })]).toEqual([name, 'served']);
    }
  });

  it.each([
    ['another program of this machine', () => ['http://127.0.0.1:9', `127.0.0.1:${portOf('search')}`]],
    ['another machine', () => [`http://10.0.0.9:${portOf('reader')}`, `127.0.0.1:${portOf('search')}`]],
    ['another site', () => [`http://evil.test:${portOf('reader')}`, `127.0.0.1:${portOf('search')}`]],
    [
      'a site whose name was made to point here',
      () => [`http://evil.test:${portOf('reader')}`, `evil.test:${portOf('search')}`],
    ],
    ['a frame without an origin', () => ['null', `127.0.0.1:${portOf('search')}`]],
  ] as const)('it refuses %s', async (_, place) => {
    const [origin, host] = place() as [string, string];
    expect(await ask('search', { origin, host, 'sec-fetch-site': 'cross-site' })).toBe('refused');
  });

  it('the reader serves only its own origin', async () => {
    const host = `127.0.0.1:${portOf('reader')}`;
    expect(await ask('reader', { origin: `http://127.0.0.1:${portOf('search')}`, host })).toBe('refused');
    expect(await ask('reader', { origin: `http://${host}`, host, 'sec-fetch-site': 'same-origin' })).toBe('served');
  });
});

describe('accessibility', () => {
  it('on a phone, in dark colours, scrolls in one direction', async () => {
    const page = await open('', { viewport: { width: 360, height: 780 }, colorScheme: 'dark', hasTouch: true });
    const tooWide = () => page.evaluate('document.documentElement.scrollWidth > document.documentElement.clientWidth');
    for (const name of ['Search', 'Ask the index', 'Embed', 'Rerank', 'Recognize', 'Read']) {
      await tab(page, name).click();
      await page.getByRole('button', { name: 'Options' }).click();
      expect([name, await tooWide()]).toEqual([name, false]);
    }
    await page.getByRole('checkbox', { name: 'explain' }).check();
    await page.getByRole('checkbox', { name: 'trace' }).check();
    await read(page);
    expect((await page.locator('.status').boundingBox())!.y).toBeLessThan(780);
    for (const view of ['Raw', 'JSON', 'Removed', 'Trace', 'Code', 'Answer']) {
      await tab(page, view).click();
      expect([view, await tooWide()]).toEqual([view, false]);
    }
  });

  it('with a keyboard moves between tabs by arrows, with a visible focus', async () => {
    const page = await open();
    await tab(page, 'Read').focus();
    await page.keyboard.press('ArrowLeft');
    expect(await tab(page, 'Flow').getAttribute('aria-selected')).toBe('true');
    await page.keyboard.press('Home');
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Read');
    expect(await page.evaluate('getComputedStyle(document.activeElement).outlineStyle')).toBe('solid');
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.name')).toBe('source');
  });

  it('has a name for each control for screen readers', async () => {
    const page = await open();
    for (const name of ['Read', 'Crawl', 'Search', 'Embed', 'Rerank', 'Recognize', 'Batch', 'Flow']) {
      await tab(page, name).click();
      const nameless = await page
        .locator('input, select, textarea, button')
        .evaluateAll((all) =>
          all
            .filter((one) => !one.labels?.length && !one.ariaLabel && !one.textContent.trim())
            .map((one) => one.outerHTML),
        );
      expect(nameless).toEqual([]);
    }
  });
});
