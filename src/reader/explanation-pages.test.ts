/** Selectors of explanations in a real browser: what they find there is what we say they find. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createGuard } from '#net/guard/guard.ts';
import { createEgressProxy, type EgressProxy } from '#net/proxy/egress-proxy.ts';
import { foundBrowser } from './engines/browser/browser.suite.ts';
import { type Launched, launchBrowser } from './engines/browser/launch.ts';
import { renderHtml } from './render.suite.ts';

const PAGES = path.resolve(import.meta.dirname, '../../test/fixtures/pages');
const dataDir = mkdtempSync(path.join(os.tmpdir(), 'lectern-selectors-'));

let egress: EgressProxy;
let browser: Launched;
let page: Page;
let source = '';
beforeAll(async () => {
  egress = await createEgressProxy({ guard: createGuard() });
  browser = await launchBrowser({ found: foundBrowser(), egress, dataDir, sandbox: false, siteIsolation: false });
  // Scripts would change the page, and without them noscript is read as we read it.
  const context = await browser.browser.newContext({ javaScriptEnabled: false });
  // `setContent` waits for a console message, and those are dropped (engines/browser/messages.ts).
  await context.route('**', (route) =>
    route.request().isNavigationRequest() && !route.request().frame().parentFrame()
      ? route.fulfill({ contentType: 'text/html; charset=utf-8', body: source })
      : route.abort(),
  );
  page = await context.newPage();
}, 120_000);
afterAll(async () => {
  await browser?.end();
  await egress?.close();
  rmSync(dataDir, { recursive: true, force: true });
});

const FIND =
  "(selectors) => selectors.map((selector) => Array.from(document.querySelectorAll(selector), (found) => found.textContent ?? ''))";

const ODD = `<p id="a">one<p id="A">two<div id="1 2"><svg><g><text>drawn</text></g><g><foreignObject><p>inside</p></foreignObject></g></svg></div>
<o:p>old</o:p><o:p hidden>older</o:p><div class="x Y"><p hidden>gone</p><p hidden>gone too</p></div><div class="y"><span hidden>far</span></div>
<table><tr><td hidden>cell</td><td>cell</td></tr></table><select><option>choose</option></select><math><mi hidden>m</mi></math>`;

const sources = readdirSync(PAGES).map((name) => [name, readFileSync(path.join(PAGES, name, 'source.html'), 'utf8')]);

test.each([...sources, ['odd elements, without a doctype', ODD], ['odd elements', `<!doctype html>${ODD}`]])(
  '%s',
  async (_, html) => {
    const { removed, blocks } = renderHtml(html!, { explain: true }).page.explanation!;
    const asked = [...removed, ...blocks].map(({ selector }) => selector);
    expect(asked.length).toBeGreaterThan(0);
    source = html!;
    await page.goto('http://page.example/', { waitUntil: 'domcontentloaded' });
    const found = (await page.evaluate(`(${FIND})(${JSON.stringify(asked)})`)) as string[][];
    const letters = (text: string) => text.replace(/[^\p{L}\p{N}]+/gu, '');
    for (const [at, texts] of found.entries()) {
      expect(texts, asked[at]).toHaveLength(1);
      const removal = removed[at];
      const start = letters(removal?.text ?? '').slice(0, 3);
      if (removal && removal.step !== 'cut') expect(letters(texts[0]!)).toContain(start);
    }
  },
  60_000,
);
