/** The browser context of a visit: who asks, through which window, and how much of the page is loaded. */
import type { BrowserContext, BrowserContextOptions } from 'playwright-core';
import { within } from '#concurrency/deadline.ts';
import { problem } from '#errors.ts';
import { picturesNeeded } from '../../formats/pictures.ts';
import type { Options } from '../../options/resolve.ts';
import type { StorageState } from '../../snapshot.ts';
import { acceptLanguage, DEFAULT_LOCALE } from '../language.ts';
import type { Lease } from './pool.ts';

const CLOSE_MS = 2_000;
/**
 * Elsewhere the system's language counts for more than what the browser was started with. What is not overridden is
 * told in full to workers too.
 */
const HAS_LANGUAGE_BY_START = process.platform === 'linux';

export interface ContextFacts {
  readonly userAgent: string;
  /** What the visit is called at the egress proxy, so that this can tell whose request it refused, and which way it goes. */
  readonly name: string;
  readonly storageState: StorageState | undefined;
}

/** ParamValidationError, path `storageState`: the browser refuses what it is to begin with. */
export async function openContext(
  { browser, egress }: Lease,
  options: Options,
  { userAgent, name, storageState }: ContextFacts,
): Promise<BrowserContext> {
  const wanted: BrowserContextOptions = {
    ...contextOptions(options, userAgent),
    // Loopback goes through the proxy too.
    proxy: { server: egress.url, username: name, password: egress.password, bypass: '<-loopback>' },
  };
  if (!storageState) return browser.newContext(wanted);
  try {
    return await browser.newContext({ ...wanted, storageState: structuredClone(storageState) as WrittenState });
  } catch (error) {
    if (!browser.isConnected()) throw error;
    const message = 'The browser refuses this state';
    throw problem('ParamValidationError', { path: 'storageState', message }, error);
  }
}

/** Playwright's type has no `readonly`. */
type WrittenState = Exclude<BrowserContextOptions['storageState'], string | undefined>;

/** A page that hangs may not answer even to this; the browser ends it all the same. */
export const closeContext = (context: BrowserContext): Promise<void> =>
  within(CLOSE_MS, context.close()).catch(() => {});

function contextOptions(options: Options, userAgent: string): BrowserContextOptions {
  const { width = 1_280, height = 1_280, deviceScaleFactor, isMobile, isLandscape, hasTouch } = options.viewport ?? {};
  const locale = options.locale ?? (HAS_LANGUAGE_BY_START ? undefined : DEFAULT_LOCALE);
  const turned = isLandscape === true && height > width;
  return {
    userAgent,
    viewport: turned ? { width: height, height: width } : { width, height },
    ...(deviceScaleFactor !== undefined && { deviceScaleFactor }),
    ...(isMobile !== undefined && { isMobile }),
    ...(hasTouch !== undefined && { hasTouch }),
    ...(locale !== undefined && { locale }),
    // A frame of another site would ask for the language without its shorter form.
    extraHTTPHeaders: { 'accept-language': acceptLanguage(options.locale) },
    ignoreHTTPSErrors: options.skipCertVerification === true,
    serviceWorkers: 'block',
    acceptDownloads: false,
  };
}

/**
 * Pictures, and timings that wait for media, need what is shown; all else only needs the document. Style sheets are
 * loaded always: by them it is known what is hidden.
 */
export function needsPictures(options: Options): boolean {
  const { screenshot, pageshot } = picturesNeeded(options);
  const { respondTiming } = options;
  return screenshot || pageshot || respondTiming === 'media-idle' || respondTiming === 'network-idle';
}
