/** The target of a read: a URL to fetch, or a document that came with the request. */
import { createHash } from 'node:crypto';
import { problem } from '#errors.ts';
import { isUrl } from '#is-url.ts';

export interface Target {
  /** The URL to show, base of relative links, and cache key: http(s), or `blob:` for documents without a URL. */
  readonly url: string;
  /** HTML or text that came with the request; nothing is fetched. */
  readonly given?: { readonly text: string; readonly mediaType: string } | undefined;
  /** A binary file that came with the request; nothing is fetched. */
  readonly upload?:
    | {
        readonly bytes: Uint8Array;
        readonly mediaType: string;
        readonly contentType?: string | undefined;
        readonly name?: string | undefined;
        /** The option that contained the file; `file` by default. */
        readonly option?: 'file' | 'pdf';
      }
    | undefined;
}

/** Maximum length of a URL, in characters: as much as fits in a request line. */
const MAX_URL_LENGTH = 64 * 1024;
/** Maximum length of a host name with its final dot (RFC 1035, section 2.3.4). */
const MAX_HOST_LENGTH = 254;

const invalid = (message: string, value?: string) =>
  problem('ParamValidationError', { path: 'url', message, ...(value !== undefined && { value: value.slice(0, 200) }) });

/**
 * Converts user input to a clean http(s) URL (docs/reference/wire/reader.md, Target). `ownHosts` are the host names of
 * this server: if its own URL precedes the target, it is removed. Throws ParamValidationError with `path` set to `url`.
 */
export function cleanUrl(typed: string, ownHosts: readonly string[] = []): string {
  if (typed.length > MAX_URL_LENGTH) throw invalid(`The URL is longer than ${MAX_URL_LENGTH} characters`);
  let text = withoutOwnHost(typed.trim(), ownHosts);
  if (!text) throw invalid('The URL is missing');
  // In `view-source:https://a.b` and `https://https://a.b`, the last URL is used; one slash after a scheme is enough.
  text = text
    .replace(/^(?:[a-z][a-z0-9+.-]*:\/{0,2})+(?=[a-z][a-z0-9+.-]*:\/)/i, '')
    .replace(/^([a-z][a-z0-9+.-]*):\/+(?!\/)/i, '$1://');
  const scheme = /^([a-z][a-z0-9+.-]*):(.*)$/is.exec(text);
  if (!scheme) text = `http://${text.replace(/^\/+/, '')}`;
  else if (/^\d{1,5}(?:[/?#]|$)/.test(scheme[2]!)) text = `http://${text}`;
  else if (!/^https?$/i.test(scheme[1]!))
    throw invalid(`Only http and https URLs can be read, not ${scheme[1]}:`, typed);
  if (!isUrl(text)) throw invalid('The URL is not valid', typed);
  return normalize(new URL(text));
}

function withoutOwnHost(text: string, ownHosts: readonly string[]): string {
  for (const host of ownHosts) {
    const prefix = new RegExp(`^(?:https?:/{1,2})?${escapeRegExp(host)}/(?=.)`, 'i').exec(text);
    if (prefix) return text.slice(prefix[0].length);
  }
  return text;
}

const escapeRegExp = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

function normalize(url: URL): string {
  url.username = '';
  url.password = '';
  if (!url.hostname) throw invalid('The URL has no host');
  if (url.hostname.length > MAX_HOST_LENGTH) throw invalid('The host name is too long');
  if (/[^.]\.$/.test(url.hostname)) url.hostname = url.hostname.replace(/\.$/, '');
  url.pathname = url.pathname.replace(/\/{2,}/g, '/');
  url.search = withoutTracking(url.search);
  const textFragment = url.hash.indexOf(':~:text=');
  if (textFragment >= 0) url.hash = url.hash.slice(0, textFragment).replace(/^#$/, '');
  return url.href;
}

/** Removes `utm_…` parameters; the others keep their spelling and order. */
function withoutTracking(search: string): string {
  if (!/[?&]utm_/i.test(search)) return search;
  const kept = search
    .slice(1)
    .split('&')
    .filter((pair) => !/^utm_/i.test(pair));
  return kept.length ? `?${kept.join('&')}` : '';
}

/**
 * The target in a request line: everything after the first slash, percent-decoded once as a whole. Text that cannot be
 * decoded is returned unchanged.
 */
export function decodePathTarget(requestUrl: string): string {
  const raw = requestUrl.replace(/^\//, '');
  try {
    return decodeURIComponent(raw);
  } catch {
    return raw;
  }
}

/** A URL for a document without one: a hash of its content. */
export const blobUrl = (content: string | Uint8Array): string =>
  `blob:${createHash('sha256').update(content).digest('hex')}`;
