/** A browser for tests, and pages of it that note whatever their policy or their scripts complain about. */
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { findBrowser } from '#reader/index.ts';
import { SETUP_DATA_DIR } from './share-browser.ts';

/** The one that the set-up found. */
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
  /** Violations of the policy, errors in the console and of scripts, and dialogs; not that a request was refused. */
  readonly complaints: string[];
  /** Addresses asked for. */
  readonly requests: string[];
}

/** A page in a context of its own. */
export async function watchedPage(browser: Browser, options: BrowserContextOptions = {}): Promise<WatchedPage> {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  page.setDefaultTimeout(90_000);
  const complaints: string[] = [];
  const requests: string[] = [];
  await page.addInitScript(`addEventListener('securitypolicyviolation', (event) =>
    console.error('policy: ' + event.violatedDirective + ' ' + event.blockedURI + ' ' + event.sample))`);
  page.on('console', (message) => {
    const isRefusal = message.text().startsWith('Failed to load resource');
    if (message.type() === 'error' && !isRefusal) complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('dialog', (dialog) => {
    complaints.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on('request', (request) => requests.push(request.url()));
  return { page, complaints, requests };
}
