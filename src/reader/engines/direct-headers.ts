/** What the direct engine says about itself: the headers of a browser that opens a page, and what the caller adds. */
import { checkCustomHeaders } from '#net/fetch/custom-headers.ts';
import type { Visit } from './engine.ts';
import { acceptLanguage } from './language.ts';
import { identify } from './user-agent.ts';

export interface Self {
  /** Who to be when the caller does not say, in the words of the option `userAgent`. */
  readonly userAgent?: string | undefined;
  /** The major version of the browser engine's Chromium, so that both look alike to a target. */
  readonly chromiumMajor?: number | undefined;
  /** Our own version, for those who ask to be named. */
  readonly version?: string | undefined;
}

/** Throws ParamValidationError, path `customHeader`. */
export function headersFor(url: URL, asked: Visit['options'], self: Self): Record<string, string> {
  const { userAgent, hints } = identify({
    userAgent: asked.userAgent ?? self.userAgent,
    host: url.hostname,
    chromiumMajor: self.chromiumMajor,
    version: self.version,
  });
  const isBrowser = Object.keys(hints).length > 0;
  // Browsers tell these things to secure sites only.
  const secure = url.protocol === 'https:' && isBrowser;
  return {
    ...(secure && hints),
    ...(isBrowser && { 'upgrade-insecure-requests': '1' }),
    'user-agent': userAgent,
    accept: ACCEPT,
    ...(secure && {
      'sec-fetch-site': asked.referer ? 'cross-site' : 'none',
      'sec-fetch-mode': 'navigate',
      'sec-fetch-user': '?1',
      'sec-fetch-dest': 'document',
    }),
    ...(asked.referer && { referer: asked.referer }),
    'accept-language': acceptLanguage(asked.locale),
    ...checkCustomHeaders(asked.customHeader),
  };
}

const ACCEPT = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,*/*;q=0.8';
