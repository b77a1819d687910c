/** The browser context of a visit: who asks, through which window, and how much of the page is loaded. */
import type { BrowserContext, BrowserContextOptions } from 'playwright-core';
import { within } from '#concurrency/deadline.ts';
import type { Options } from '../../options/resolve.ts';
import type { Lease } from './pool.ts';

const CLOSE_MS = 2_000;

/** `name` is what the visit is called at the egress proxy, so that this can tell whose request it refused. */
export const openContext = ({ browser, egress }: Lease, options: Options, userAgent: string, name: string) =>
  browser.newContext({
    ...contextOptions(options, userAgent),
    // Loopback goes through the proxy too.
    proxy: { server: egress.url, username: name, password: egress.password, bypass: '<-loopback>' },
  });

/** A page that hangs may not answer even to this; the browser ends it all the same. */
export const closeContext = (context: BrowserContext): Promise<void> =>
  within(CLOSE_MS, context.close()).catch(() => {});

function contextOptions(options: Options, userAgent: string): BrowserContextOptions {
  const { width = 1_280, height = 1_280, deviceScaleFactor, isMobile, isLandscape, hasTouch } = options.viewport ?? {};
  const turned = isLandscape === true && height > width;
  return {
    userAgent,
    viewport: turned ? { width: height, height: width } : { width, height },
    ...(deviceScaleFactor !== undefined && { deviceScaleFactor }),
    ...(isMobile !== undefined && { isMobile }),
    ...(hasTouch !== undefined && { hasTouch }),
    ...(options.locale !== undefined && { locale: options.locale }),
    ignoreHTTPSErrors: options.skipCertVerification === true,
    serviceWorkers: 'block',
    acceptDownloads: false,
  };
}

/**
 * Pictures, and timings that wait for media, need what is shown; all else only needs the document. Style sheets are
 * loaded always: by them it is known what is hidden.
 */
export const needsPictures = ({ formats, respondTiming }: Options): boolean =>
  formats.has('screenshot') ||
  formats.has('pageshot') ||
  respondTiming === 'media-idle' ||
  respondTiming === 'network-idle';
