/** The page that is visited before the target (option `preloadUrl`): for what it leaves in the context, not for itself. */
import type { Page } from 'playwright-core';
import { within } from '#concurrency/deadline.ts';

const MOST_MS = 10_000;
const CLOSE_MS = 1_000;

/** Takes half of the time that there is at most; however it ends, the target comes next. */
export async function preload(page: Page, url: string, leftMs: number): Promise<void> {
  const limitMs = Math.max(Math.min(leftMs / 2, MOST_MS), 1);
  const visit = async () => {
    await page.goto(url, { waitUntil: 'load', timeout: limitMs });
    await page.waitForLoadState('networkidle', { timeout: limitMs });
  };
  await within(limitMs, visit()).catch(() => {});
  await within(CLOSE_MS, page.close()).catch(() => {});
}
