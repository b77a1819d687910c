/** Explanations of all fixture pages: selectors, in a real browser too, blocks and removals. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Child, descendants, ELEMENT, type Element, TEXT } from '#html/node.ts';
import { createGuard } from '#net/guard/guard.ts';
import { createEgressProxy, type EgressProxy } from '#net/proxy/egress-proxy.ts';
import { foundBrowser } from './engines/browser/browser.suite.ts';
import { type Launched, launchBrowser } from './engines/browser/launch.ts';
import { checkLines, checkSelectors, type Explained, explained, letters, theOne } from './explanation.suite.ts';
import { MACHINE_ONLY_ELEMENTS } from './extract/content/removal-log.ts';
import type { GivenOptions } from './options/options.ts';

const PAGES = path.resolve(import.meta.dirname, '../../test/fixtures/pages');
const dataDir = mkdtempSync(path.join(os.tmpdir(), 'lectern-selectors-'));

let egress: EgressProxy;
let browser: Launched;
let page: Page;
let source = '';
beforeAll(async () => {
  egress = await createEgressProxy({ guard: createGuard() });
  browser = await launchBrowser({ found: foundBrowser(), egress, dataDir, sandbox: false, siteIsolation: false });
  // The scripts would change the page. Without scripts, the browser displays `noscript` elements, as our reader does.
  const context = await browser.browser.newContext({ javaScriptEnabled: false });
  // `setContent` waits for a console message, but console messages are dropped (engines/browser/messages.ts).
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

const sources = [
  ...readdirSync(PAGES).map((name) => [name, readFileSync(path.join(PAGES, name, 'source.html'), 'utf8')] as const),
  ['odd elements, without a doctype', ODD] as const,
  ['odd elements', `<!doctype html>${ODD}`] as const,
];
const fixtures = sources.slice(0, -2).map(([, html]) => html);

test('there are pages', () => expect(fixtures.length).toBeGreaterThan(25));

test.each(sources)(
  'each selector finds one element, in a browser too: %s',
  async (_, html) => {
    const answer = explained(html);
    const { removed, blocks } = answer.explanation;
    const selectors = [...removed, ...blocks].map(({ selector }) => selector);
    expect(selectors.length).toBeGreaterThan(0);
    source = html;
    await page.goto('http://page.example/', { waitUntil: 'domcontentloaded' });
    const found = (await page.evaluate(`(${FIND})(${JSON.stringify(selectors)})`)) as string[][];
    for (const [at, texts] of found.entries()) {
      expect(texts, selectors[at]).toHaveLength(1);
      const removal = removed[at];
      const start = letters(removal?.text ?? '').slice(0, 3);
      if (removal && removal.step !== 'cut') expect(letters(texts[0]!)).toContain(start);
    }
    if (html.includes(ODD)) return;
    checkLines(answer);
    // Our own selector engine is slow, so each page gets only one of these checks.
    if (isOneOf(html, 0, 3)) checkSelectors(answer);
    else checkRemovals(answer);
  },
  60_000,
);

/** Whether a page belongs to part number `part` if all fixtures are divided into `parts` parts. */
const isOneOf = (html: string, part: number, parts: number) => fixtures.indexOf(html) % parts === part % parts;

/** Checks that all text of the page is in the result or in a removed element. */
function checkRemovals(page: Explained): void {
  const { explanation, document } = page;
  expect(explanation.removed).toHaveLength(explanation.removedCount);
  const removed = new Set(explanation.removed.map(({ selector }) => theOne(page, selector)));
  const content = letters(page.content);
  for (const node of descendants(document)) {
    if (node.type !== TEXT || isForMachines(node) || isInside(node, removed)) continue;
    expect(content).toContain(letters(node.value));
  }
}

function isInside(node: Child, holders: ReadonlySet<Element>): boolean {
  for (let at = node.parent; at?.type === ELEMENT; at = at.parent) if (holders.has(at)) return true;
  return false;
}

function isForMachines(node: Child): boolean {
  for (let at = node.parent; at?.type === ELEMENT; at = at.parent) if (MACHINE_ONLY_ELEMENTS.has(at.name)) return true;
  return false;
}

const FORMS: readonly (readonly [form: string, given: GivenOptions])[] = [
  ['underlined headings', { markdown: { headingStyle: 'setext' } as never }],
  ['front matter', { respondWith: 'frontmatter' }],
  ['cut short', { maxTokens: 60 }],
  ['cut short behind front matter', { respondWith: 'frontmatter', maxTokens: 90 }],
  ['chunks', { markdownChunking: 'h3' }],
  ['citations and no pictures', { retainLinks: 'gpt-oss', retainImages: 'none' }],
  ['plain CommonMark', { noGfm: true }],
];

test.each(FORMS.map(([form, given], at) => [form, given, at] as const))(
  'every line has its block: %s',
  (_, given, part) => {
    // Each output form is tested on some of the pages.
    for (const html of fixtures.filter((each) => isOneOf(each, part, FORMS.length))) checkLines(explained(html, given));
  },
  120_000,
);

test('every line of a whole page has its block, except the title', () => {
  for (const html of fixtures.filter((each) => isOneOf(each, 0, 3))) {
    const { content, explanation } = explained(html, { respondWith: 'markdown' });
    const [title = '', ...rest] = content.split('\n');
    const isTitle = explanation.blocks[0]?.line !== 1;
    if (isTitle) expect(title).toMatch(/^# /);
    checkLines({ content: [isTitle ? '' : title, ...rest].join('\n'), explanation });
  }
}, 60_000);
