/**
 * Every page of the playground and the documentation in a real browser, in light, in dark and on a narrow screen: axe has
 * no findings, nothing is cut off, and no control covers another.
 */
import path from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { TABS } from '../playground/src/tabs.ts';
import { sitePages } from '../scripts/site/pages.ts';
import { axeFindings } from './support/axe.ts';
import { launchBrowser, openWatchedPage } from './support/browser-page.ts';
import { startServer, type TestServer } from './support/server.ts';

const LONG = 600_000;
vi.setConfig({ testTimeout: LONG });

const SCREENS = {
  light: { colorScheme: 'light', viewport: { width: 1280, height: 900 } },
  dark: { colorScheme: 'dark', viewport: { width: 1280, height: 900 } },
  narrow: { colorScheme: 'light', viewport: { width: 390, height: 844 } },
} as const;
type Screen = keyof typeof SCREENS;
const SCREEN_NAMES = Object.keys(SCREENS) as Screen[];
/** The rules that depend on colours, and those that depend on colours or sizes. */
const SCREEN_RULES = {
  dark: ['color-contrast', 'link-in-text-block'],
  narrow: ['target-size', 'scrollable-region-focusable', 'meta-viewport', 'color-contrast'],
} as const;
/** The smallest PNG of a page that shows something. An empty one has about a tenth of it. */
const LEAST_PICTURE_BYTES = 8_000;

let browser: Browser;
let server: TestServer;
beforeAll(async () => {
  server = await startServer({ browser: 'none', auth: 'off' });
  browser = await launchBrowser();
}, LONG);
afterAll(async () => {
  await browser?.close();
  await server?.close();
});

/** Controls whose middle belongs to another element, and the width that does not fit the screen. */
const LAYOUT_FAULTS = `(() => {
  const faults = [];
  const { scrollWidth, clientWidth } = document.documentElement;
  if (scrollWidth > clientWidth) faults.push('scrolls sideways: ' + scrollWidth + ' of ' + clientWidth);
  for (const control of document.querySelectorAll('a, button, input, select, textarea, summary')) {
    const box = control.getBoundingClientRect();
    const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
    const isShown =
      box.width > 1 && box.height > 1 && control.checkVisibility({ opacityProperty: true, visibilityProperty: true });
    if (!isShown || x < 0 || y < 0 || x >= innerWidth || y >= innerHeight) continue;
    const top = document.elementFromPoint(x, y);
    if (!top || control.contains(top) || top.contains(control) || top.closest('label')?.control === control) continue;
    faults.push(control.outerHTML.slice(0, 80) + ' is covered by ' + top.outerHTML.slice(0, 80));
  }
  return faults;
})()`;

async function show(page: Page, screen: Screen): Promise<void> {
  const { colorScheme, viewport } = SCREENS[screen];
  await page.emulateMedia({ colorScheme });
  await page.setViewportSize(viewport);
}

async function layoutFaults(page: Page, name: string): Promise<string[]> {
  const faults: string[] = await page.evaluate(LAYOUT_FAULTS);
  return faults.map((fault) => `${name}: ${fault}`);
}

/** What is wrong with the page as it is now, with the name of its state. */
async function faultsOf(page: Page, name: string, rules?: readonly string[]): Promise<string[]> {
  const isEmpty = (await page.screenshot()).length < LEAST_PICTURE_BYTES;
  const faults = [...(await axeFindings(page, rules)), ...(isEmpty ? ['shows nothing'] : [])];
  return [...(await layoutFaults(page, name)), ...faults.map((fault) => `${name}: ${fault}`)];
}

async function check(page: Page, name: string): Promise<void> {
  expect(await faultsOf(page, name)).toEqual([]);
}

describe.each(SCREEN_NAMES)('%s', (screen) => {
  it('the playground: every tab, its options and its code', async () => {
    const { page, complaints } = await openWatchedPage(browser, SCREENS[screen]);
    await page.goto(`${server.reader}/playground`);
    for (const { name, title } of TABS) {
      await page.getByRole('tab', { name: title, exact: true }).click();
      await check(page, `${name}, empty`);
      await page.getByRole('tab', { name: 'Code', exact: true }).click();
      await check(page, `${name}, code`);
      const fold = page.locator('.options .fold');
      if ((await fold.getAttribute('aria-expanded')) === 'false') await fold.click();
      const folded = page.locator('.options details:not([open]) > summary');
      while ((await folded.count()) > 0) await folded.first().click();
      await check(page, `${name}, all options`);
    }
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  it('the playground: answers', async () => {
    const { page, complaints } = await openWatchedPage(browser, SCREENS[screen]);
    const send = async (fragment: string) => {
      await page.goto('about:blank');
      await page.goto(`${server.reader}/playground#${fragment}`);
      await page.getByRole('form', { name: 'Request' }).waitFor();
      await page.keyboard.press('Control+Enter');
      await page.locator('.status .state', { hasText: /Done|Failed/ }).waitFor();
    };
    const html = encodeURIComponent('<h1>Tides</h1><p>The moon pulls the sea. <a href="/moon">More</a></p>');
    await send(`tab=read&in.source=html&in.html=${html}&opt.trace=true&opt.explain=true`);
    for (const view of await page.locator('#view-panel, .view-tabs [role=tab]').all()) {
      if ((await view.getAttribute('role')) === 'tab') await view.click();
      await check(page, `answer: ${await view.innerText()}`);
    }
    const texts = encodeURIComponent('The cat sleeps\nKittens nap');
    await send(`tab=embed&in.texts=${texts}&in.model=lectern-static-v2`);
    await check(page, 'vectors');
    await send(`tab=batch&in.texts=${texts}&in.model=lectern-static-v2`);
    await check(page, 'batch');
    await send(`tab=flow&in.documents=${texts}`);
    await check(page, 'flow');
    await send('tab=read&in.url=http%3A%2F%2F10.0.0.1%2F');
    await check(page, 'failure');
    expect(complaints).toEqual([]);
    await page.context().close();
  });
});

/** The places of the page's elements: the tags and classes from each element up to the body. */
const PLACES = `(() => {
  const places = new Set();
  for (const element of document.body.querySelectorAll('*')) {
    let place = '';
    for (let at = element; at !== document.body; at = at.parentElement) place += at.tagName + '.' + at.className + '>';
    places.add(place);
  }
  return [...places];
})()`;

// The document of a page is the same on every screen, so all rules apply in light. Elsewhere, those apply that depend on
// colours and sizes, which the style sheet gives by place: to pages with an element in a place that no page before had.
it('the documentation: every page', async () => {
  const { page, complaints } = await openWatchedPage(browser, SCREENS.light);
  const known = new Set<string>();
  const faults: string[] = [];
  let newPlaces = 0;
  for (const { slug } of sitePages(path.resolve(import.meta.dirname, '..'))) {
    await show(page, 'light');
    await page.goto(`${server.reader}/docs/${slug}`);
    faults.push(...(await faultsOf(page, slug)));
    const places: readonly string[] = await page.evaluate(PLACES);
    const isNew = places.some((place) => !known.has(place));
    for (const place of places) known.add(place);
    if (isNew) newPlaces++;
    for (const screen of ['dark', 'narrow'] as const) {
      await show(page, screen);
      const found = isNew ? await faultsOf(page, slug, SCREEN_RULES[screen]) : await layoutFaults(page, slug);
      faults.push(...found.map((fault) => `${screen}: ${fault}`));
    }
  }
  expect(faults).toEqual([]);
  expect(newPlaces).toBeGreaterThan(10);
  expect(complaints).toEqual([]);
  await page.context().close();
});

it.each(SCREEN_NAMES)('the search of the documentation: %s', async (screen) => {
  const { page, complaints } = await openWatchedPage(browser, SCREENS[screen]);
  await page.goto(`${server.reader}/docs/guide/self-hosting`);
  await page
    .getByRole('searchbox')
    .or(page.getByRole('combobox', { name: 'Search' }))
    .first()
    .fill('docker');
  await page.locator('#found-0').waitFor();
  // The list lies over the page on purpose.
  expect(await axeFindings(page)).toEqual([]);
  expect(complaints).toEqual([]);
  await page.context().close();
});
