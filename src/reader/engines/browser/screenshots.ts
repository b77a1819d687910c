/** Takes screenshots of a page, as PNG. */
import type { CDPSession } from 'playwright-core';
import { within } from '#concurrency/deadline.ts';
import type { Options } from '../../options/resolve.ts';

/** Maximum height of a whole-page screenshot, in CSS pixels; the rest is cut off. */
const MAX_PAGE_HEIGHT = 16_384;
/** Maximum number of pixels of a screenshot, at any window size and scale. */
const MAX_PIXELS = 64_000_000;

export interface Screenshots {
  readonly screenshot?: Uint8Array;
  readonly pageshot?: Uint8Array;
  /** The height of the screenshot in CSS pixels; set only if the page is taller than that. */
  readonly cutAt?: number;
}

export interface ScreenshotOptions {
  readonly screenshot: boolean;
  readonly pageshot: boolean;
  readonly deviceScaleFactor: number;
}

/** Sets the scale in this session too, because a screenshot uses the scale of the session that takes it. */
export async function overrideDeviceScale(session: CDPSession, { viewport }: Options): Promise<void> {
  if (viewport?.deviceScaleFactor === undefined) return;
  const { deviceScaleFactor, isMobile = false } = viewport;
  await session.send('Emulation.setDeviceMetricsOverride', {
    width: 0,
    height: 0,
    deviceScaleFactor,
    mobile: isMobile,
  });
}

/**
 * Takes the requested screenshots; those that fail or take too long are omitted. With a pageshot, a screenshot is taken
 * too.
 */
export async function takeScreenshots(
  session: CDPSession,
  wanted: ScreenshotOptions,
  limitMs: number,
): Promise<Screenshots> {
  const until = performance.now() + limitMs;
  const attempt = <Taken>(work: Promise<Taken>) =>
    within(Math.max(until - performance.now(), 1), work).catch(() => undefined);
  const screenshot = wanted.screenshot || wanted.pageshot ? await attempt(takeWindow(session)) : undefined;
  const page = wanted.pageshot ? await attempt(takePage(session, wanted.deviceScaleFactor)) : undefined;
  return { ...(screenshot && { screenshot }), ...page };
}

async function takeWindow(session: CDPSession): Promise<Uint8Array> {
  const { cssVisualViewport: window } = await session.send('Page.getLayoutMetrics');
  const { pageX: x, pageY: y, clientWidth: width, clientHeight: height } = window;
  // Without a clip the device scale is ignored.
  const { data } = await session.send('Page.captureScreenshot', {
    format: 'png',
    clip: { x, y, width, height, scale: 1 },
  });
  return Buffer.from(data, 'base64');
}

async function takePage(session: CDPSession, deviceScaleFactor: number): Promise<Omit<Screenshots, 'screenshot'>> {
  const { cssContentSize } = await session.send('Page.getLayoutMetrics');
  const width = Math.max(1, Math.min(Math.ceil(cssContentSize.width), 4_096));
  const pixels = deviceScaleFactor * deviceScaleFactor;
  const height = Math.max(
    1,
    Math.min(Math.ceil(cssContentSize.height), MAX_PAGE_HEIGHT, Math.floor(MAX_PIXELS / width / pixels)),
  );
  const { data } = await session.send('Page.captureScreenshot', {
    format: 'png',
    captureBeyondViewport: true,
    clip: { x: 0, y: 0, width, height, scale: 1 },
  });
  const isCut = cssContentSize.height > height;
  return { pageshot: Buffer.from(data, 'base64'), ...(isCut && { cutAt: height }) };
}
