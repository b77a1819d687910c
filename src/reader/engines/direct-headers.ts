/** Headers of the direct engine: first those of a browser that opens a page, then the caller's headers. */
import { checkCustomHeaders } from '#net/fetch/custom-headers.ts';
import type { Visit } from './engine.ts';
import { acceptLanguage } from './language.ts';
import { identify } from './user-agent.ts';

export interface IdentityDefaults {
  /** Value of the `userAgent` option if the caller sets none. */
  readonly userAgent?: string | undefined;
  /** Major version of the browser engine's Chromium, so that targets see the same version from both engines. */
  readonly chromiumMajor?: number | undefined;
  /** Version of this program, for the user agent `lectern`. */
  readonly version?: string | undefined;
}

/** Throws ParamValidationError with `path` set to `customHeader`. */
export function headersFor(url: URL, asked: Visit['options'], self: IdentityDefaults): Record<string, string> {
  const { userAgent, hints } = identify({
    userAgent: asked.userAgent ?? self.userAgent,
    host: url.hostname,
    chromiumMajor: self.chromiumMajor,
    version: self.version,
  });
  const isBrowser = Object.keys(hints).length > 0;
  // Browsers send these headers only to secure sites.
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
