/** A browser for tests, and pages that record policy violations, script errors and dialogs. */
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { findBrowser } from '#reader/index.ts';
import { SETUP_DATA_DIR } from './share-browser.ts';

/** Launches the browser that the set-up found or installed. */
export function launchBrowser(): Promise<Browser> {
  const found = findBrowser({ configured: process.env.LECTERN_BROWSER, dataDir: SETUP_DATA_DIR });
  if (!found) throw new Error('these tests need a browser: run node scripts/browser.mjs');
  return chromium.launch({
    executablePath: found.path,
    args: ['--no-sandbox'],
    env: { ...(process.env as Record<string, string>), ...found.env },
  });
}

export interface WatchedPage {
  readonly page: Page;
  /** Policy violations, console errors, script errors and dialogs. Excludes failed requests. */
  readonly complaints: string[];
  /** URLs of all requests. */
  readonly requests: string[];
}

/** Opens a page in its own browser context. */
export async function openWatchedPage(browser: Browser, options: BrowserContextOptions = {}): Promise<WatchedPage> {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  page.setDefaultTimeout(90_000);
  const complaints: string[] = [];
  const requests: string[] = [];
  await page.addInitScript(`addEventListener('securitypolicyviolation', (event) =>
    console.error('policy: ' + event.violatedDirective + ' ' + event.blockedURI + ' ' + event.sample))`);
  page.on('console', (message) => {
    const isFailedRequest = message.text().startsWith('Failed to load resource');
    if (message.type() === 'error' && !isFailedRequest) complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('dialog', (dialog) => {
    complaints.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on('request', (request) => requests.push(request.url()));
  return { page, complaints, requests };
}
