/**
 * Visits a page before the target (the `preloadUrl` option), so that its cookies and storage are present in the
 * context.
 */
import type { Page } from 'playwright-core';
import { within } from '#concurrency/deadline.ts';

const MAX_MS = 10_000;
const CLOSE_MS = 1_000;

/** Uses at most half of the remaining time. Failures are ignored, because the target is read in any case. */
export async function preloadPage(page: Page, url: string, leftMs: number): Promise<void> {
  const limitMs = Math.max(Math.min(leftMs / 2, MAX_MS), 1);
  const visit = async () => {
    await page.goto(url, { waitUntil: 'load', timeout: limitMs });
    await page.waitForLoadState('networkidle', { timeout: limitMs });
  };
  await within(limitMs, visit()).catch(() => {});
  await within(CLOSE_MS, page.close()).catch(() => {});
}
