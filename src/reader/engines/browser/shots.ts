/** Pictures of a page, as PNG. */
import type { CDPSession } from 'playwright-core';
import { within } from '#concurrency/deadline.ts';
import type { Options } from '../../options/resolve.ts';

/** The greatest height of a whole page, in CSS pixels: what lies below is left out. */
const MAX_PAGE_HEIGHT = 16_384;
/** The most pixels that a picture may have, whatever the window and its scale. */
const MAX_PIXELS = 64_000_000;

export interface Shots {
  readonly screenshot?: Uint8Array;
  readonly pageshot?: Uint8Array;
  /** Set when the page is higher than its picture: how many CSS pixels that has. */
  readonly cutAt?: number;
}

export interface ShotsWanted {
  readonly screenshot: boolean;
  readonly pageshot: boolean;
  readonly deviceScaleFactor: number;
}

/** The scale of a picture is that of the session that takes it, so ours is told what Playwright's was. */
export async function overrideScale(session: CDPSession, { viewport }: Options): Promise<void> {
  if (viewport?.deviceScaleFactor === undefined) return;
  const { deviceScaleFactor, isMobile = false } = viewport;
  await session.send('Emulation.setDeviceMetricsOverride', {
    width: 0,
    height: 0,
    deviceScaleFactor,
    mobile: isMobile,
  });
}

/** Takes what is wanted; what does not succeed in time is left out. A page shot comes with a screenshot. */
export async function takeShots(session: CDPSession, wanted: ShotsWanted, limitMs: number): Promise<Shots> {
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
  // Without a clip the scale of the device is left out.
  const { data } = await session.send('Page.captureScreenshot', {
    format: 'png',
    clip: { x, y, width, height, scale: 1 },
  });
  return Buffer.from(data, 'base64');
}

async function takePage(session: CDPSession, deviceScaleFactor: number): Promise<Omit<Shots, 'screenshot'>> {
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
