/** The response headers and cookie names by which products that block requests can be recognized. */

/** Headers that a rule may test. */
const NAMES = [
  'akamai-cache-status',
  'cf-mitigated',
  'server',
  'sg-captcha',
  'via',
  'x-amz-error-code',
  'x-amzn-waf-action',
  'x-cache',
  'x-cdn',
  'x-datadome',
  'x-dd-b',
  'x-iinfo',
  'x-kasada',
  'x-kasada-challenge',
  'x-kpsdk-ct',
  'x-okta-request-id',
  'x-powered-by',
  'x-px-authorization',
  'x-railway-fallback',
  'x-render-routing',
  'x-served-by',
  'x-sucuri-block',
  'x-sucuri-id',
  'x-vercel-error',
  'x-vercel-mitigated',
] as const;

export type MarkedHeader = (typeof NAMES)[number];

/** Plain data, because it is part of a snapshot. */
export interface ResponseMarks {
  readonly headers: Readonly<Partial<Record<MarkedHeader, string>>>;
  /** Names of the cookies that the response sets. */
  readonly cookies: readonly string[];
}

const MAX_VALUE_CHARACTERS = 200;
const MAX_COOKIES = 50;
const MAX_COOKIE_CHARACTERS = 16_000;

/** The marks in the headers of a response (names in lower case); `undefined` if there are none. */
export function responseMarksOf(
  headers: Readonly<Record<string, string | readonly string[] | undefined>>,
): ResponseMarks | undefined {
  const found: Partial<Record<MarkedHeader, string>> = {};
  for (const name of NAMES) {
    const value = headers[name];
    if (value !== undefined) found[name] = String(value).slice(0, MAX_VALUE_CHARACTERS);
  }
  const cookies = cookieNames(headers['set-cookie']);
  return cookies.length > 0 || Object.keys(found).length > 0 ? { headers: found, cookies } : undefined;
}

/** Names at the start of each cookie. Several Set-Cookie headers are joined with a newline, or a comma and a space. */
function cookieNames(setCookie: string | readonly string[] | undefined): string[] {
  if (setCookie === undefined) return [];
  const text = (typeof setCookie === 'string' ? setCookie : setCookie.join('\n')).slice(0, MAX_COOKIE_CHARACTERS);
  return [...text.matchAll(/(?:^|\n|, )([^=;,\s]{1,100})=/g)].slice(0, MAX_COOKIES).map((match) => match[1]!);
}
