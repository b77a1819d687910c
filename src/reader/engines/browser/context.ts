/** The browser context of a visit: its identity, window, proxy, and which resources are loaded. */
import type { BrowserContext, BrowserContextOptions } from 'playwright-core';
import { within } from '#concurrency/deadline.ts';
import { problem } from '#errors.ts';
import { neededScreenshots } from '../../formats/needed-screenshots.ts';
import type { Options } from '../../options/resolve.ts';
import type { StorageState } from '../../snapshot.ts';
import { acceptLanguage, DEFAULT_LOCALE } from '../language.ts';
import type { Lease } from './pool.ts';

const CLOSE_MS = 2_000;

export interface ContextFacts {
  readonly userAgent: string;
  /** Of the visit at the egress proxy, which uses the user name to assign refusals and upstream proxies. */
  readonly credentials: { readonly username: string; readonly password: string };
  readonly storageState: StorageState | undefined;
}

/** Throws ParamValidationError with `path` set to `storageState` if the browser refuses the state. */
export async function openContext(
  { browser, egress, hasOurLanguage }: Lease,
  options: Options,
  { userAgent, credentials, storageState }: ContextFacts,
): Promise<BrowserContext> {
  const contextConfig: BrowserContextOptions = {
    ...contextOptions(options, userAgent, hasOurLanguage),
    // Sends requests to loopback addresses through the proxy too.
    proxy: { server: egress.url, ...credentials, bypass: '<-loopback>' },
  };
  if (!storageState) return browser.newContext(contextConfig);
  try {
    return await browser.newContext({ ...contextConfig, storageState: structuredClone(storageState) as WrittenState });
  } catch (error) {
    if (!browser.isConnected()) throw error;
    const message = 'The browser refuses this storage state';
    throw problem('ParamValidationError', { path: 'storageState', message }, error);
  }
}

/** Playwright's type without `readonly`. */
type WrittenState = Exclude<BrowserContextOptions['storageState'], string | undefined>;

/** A hanging page may not even respond to this call; the browser closes it anyway. */
export const closeContext = (context: BrowserContext): Promise<void> =>
  within(CLOSE_MS, context.close()).catch(() => {});

function contextOptions(options: Options, userAgent: string, hasOurLanguage: boolean): BrowserContextOptions {
  const { width = 1_280, height = 1_280, deviceScaleFactor, isMobile, isLandscape, hasTouch } = options.viewport ?? {};
  const locale = options.locale ?? (hasOurLanguage ? undefined : DEFAULT_LOCALE);
  const rotated = isLandscape === true && height > width;
  return {
    userAgent,
    viewport: rotated ? { width: height, height: width } : { width, height },
    ...(deviceScaleFactor !== undefined && { deviceScaleFactor }),
    ...(isMobile !== undefined && { isMobile }),
    ...(hasTouch !== undefined && { hasTouch }),
    ...(locale !== undefined && { locale }),
    // Without this header, frames of other sites would send only the full tag, such as `de-AT`, without the plain
    // language `de`.
    extraHTTPHeaders: { 'accept-language': acceptLanguage(options.locale) },
    ignoreHTTPSErrors: options.skipCertVerification === true,
    serviceWorkers: 'block',
    acceptDownloads: false,
  };
}

/**
 * Whether images and fonts must be loaded: for pictures, and for timings that wait for media. Style sheets are always
 * loaded, since they decide which elements are hidden.
 */
export function needsImages(options: Options): boolean {
  const { screenshot, pageshot } = neededScreenshots(options);
  const { respondTiming } = options;
  return screenshot || pageshot || respondTiming === 'media-idle' || respondTiming === 'network-idle';
}
