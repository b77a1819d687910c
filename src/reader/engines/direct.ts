/** The direct engine: one fetch, no scripts, one snapshot. */

import { Problem, problem } from '#errors.ts';
import type { Collected } from '#net/body.ts';
import { parseSetCookies, toJar } from '#net/cookies.ts';
import type { FetchResponse, GuardedFetch } from '#net/fetch.ts';
import { type Snapshot, unwritten } from '../snapshot.ts';
import { decodeBody, type EncodedBody } from './encoded-body.ts';
import type { Engine, Visit } from './engine.ts';
import { actualMedia, declaredMedia } from './media-type.ts';
import { identify } from './user-agent.ts';

export interface DirectEngineOptions {
  readonly fetch: GuardedFetch;
  /** Who to be when the caller does not say, in the words of the option `userAgent`. */
  readonly userAgent?: string | undefined;
  /** The major version of the browser engine's Chromium, so that both look alike to a target. */
  readonly chromiumMajor?: number | undefined;
  /** Our own version, for those who ask to be named. */
  readonly version?: string | undefined;
  /** Decodes a large body elsewhere than here, where others wait. */
  readonly decodeAside?: ((body: EncodedBody, signal: AbortSignal) => Promise<string>) | undefined;
}

/** Guessing the encoding of more than this takes long enough for others to notice. */
const ASIDE_BYTES = 512 * 1024;

/** The limits of a direct fetch (contract, sections 9 and 16). */
const TIMEOUT_MS = 30_000;
const MAX_REDIRECTS = 6;
const MAX_TEXT_BYTES = 32 * 1024 * 1024;

/** Time kept back before the deadline, to decode what has arrived. */
const DECODE_MS = 100;

export function createDirectEngine(options: DirectEngineOptions): Engine {
  return {
    name: 'direct',
    async *visit(visit) {
      visit.signal.throwIfAborted();
      if (visit.html !== undefined) yield given(visit.url, visit.html);
      else yield await read(visit, options);
    },
    // The fetch belongs to whoever made it.
    async close() {},
  };
}

async function read(visit: Visit, options: DirectEngineOptions): Promise<Snapshot> {
  const response = await ask(visit, options);
  const declared = declaredMedia(response.headers['content-type']);
  if (declared.kind === 'other') {
    response.discard();
    throw unreadable(declared.mediaType);
  }
  const { bytes, truncated } = await collect(response);
  if (!bytes.length)
    throw problem('AssertionFailureError', {
      targetStatus: response.status,
      message: `The target answered ${response.status} without any content`,
    });
  const { mediaType, kind } = actualMedia(declared, bytes);
  if (kind === 'other' || kind === 'unknown') throw unreadable(mediaType);
  const body = { bytes, contentType: response.headers['content-type'], kind };
  const { decodeAside } = options;
  const aside = decodeAside && bytes.length > ASIDE_BYTES;
  const text = aside ? await decodeAside(body, visit.signal) : decodeBody(body);
  return {
    url: response.url,
    status: response.status,
    statusText: response.statusText,
    mediaType,
    lastModified: response.headers['last-modified'],
    text,
    settled: true,
    ...unwritten(kind === 'html' ? text : ''),
    notes: truncated ? [NOTES[truncated]] : [],
    engine: 'direct',
  };
}

const NOTES: Record<NonNullable<Collected['truncated']>, string> = {
  time: 'The target did not send all of its content in time; this is what had arrived',
  slow: 'The target sent its content too slowly; this is what had arrived',
  broken: 'The target broke off before the end of its content; this is what had arrived',
};

const unreadable = (mediaType: string) =>
  problem('AssertionFailureError', {
    mediaType: mediaType.slice(0, 100) || 'unknown',
    message:
      mediaType && mediaType !== 'application/octet-stream'
        ? `Content of the type ${mediaType.slice(0, 100)} cannot be read yet`
        : 'The type of the content is not known and could not be told from its bytes',
  });

function ask({ url, options: asked, deadline, signal, jar }: Visit, options: DirectEngineOptions): Promise<FetchResponse> {
  const left = deadline - performance.now() - DECODE_MS;
  return options.fetch(url, {
    headers: headersFor(new URL(url), asked, options),
    signal,
    timeoutMs: Math.max(1, Math.min(asked.timeoutMs ?? TIMEOUT_MS, left)),
    maxRedirects: MAX_REDIRECTS,
    maxBytes: MAX_TEXT_BYTES,
    jar: jar ?? toJar(parseSetCookies(asked.setCookies, url)),
    acceptInvalidCertificates: asked.skipCertVerification ?? false,
  });
}

function headersFor(url: URL, asked: Visit['options'], options: DirectEngineOptions): Record<string, string> {
  const { userAgent, hints } = identify({
    userAgent: asked.userAgent ?? options.userAgent,
    host: url.hostname,
    chromiumMajor: options.chromiumMajor,
    version: options.version,
  });
  const isBrowser = Object.keys(hints).length > 0;
  // Browsers tell these things to secure sites only.
  const secure = url.protocol === 'https:' && isBrowser;
  return withCustom(
    {
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
    },
    asked.customHeader,
  );
}

const ACCEPT = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,*/*;q=0.8';

/** A language, then the same without its region, as browsers ask: `de-CH,de;q=0.9`. */
function acceptLanguage(locale = 'en-US'): string {
  const language = locale.split('-', 1)[0]!;
  return language === locale ? locale : `${locale},${language};q=0.9`;
}

/** Headers that make the connection what it is, and are not the caller's to set. */
const OWN_HEADERS = new Set(
  'host connection content-length transfer-encoding accept-encoding keep-alive upgrade te trailer expect proxy-authorization proxy-connection'.split(
    ' ',
  ),
);

function withCustom(
  headers: Record<string, string>,
  custom: Readonly<Record<string, string>> = {},
): Record<string, string> {
  const result = { ...headers };
  for (const [given, value] of Object.entries(custom)) {
    const name = given.toLowerCase();
    if (OWN_HEADERS.has(name) || !/^[!#$%&'*+\-.^_`|~0-9a-z]+$/.test(name) || /[^\t\x20-\x7e\x80-\xff]/.test(value)) {
      throw problem('ParamValidationError', {
        path: 'customHeader',
        message: `The header ${given.slice(0, 100)} cannot be sent`,
      });
    }
    result[name] = value;
  }
  return result;
}

/** What the text says there is to see that only a browser puts together. */

const given = (url: string, html: string): Snapshot => ({
  url,
  status: 200,
  statusText: 'OK',
  mediaType: 'text/html',
  text: html,
  settled: true,
  ...unwritten(html),
  notes: [],
  engine: 'given',
});

async function collect(response: FetchResponse): Promise<Collected> {
  try {
    return await response.collect();
  } catch (error) {
    if (!(error instanceof Problem) || error.name !== 'TargetFileTooLargeError') throw error;
    throw problem('AssertionFailureError', { message: 'Text of more than 32 MiB cannot be read' }, error);
  }
}
