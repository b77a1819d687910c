/** What a caller wants read: an address that is fetched, or a document that came with the request. */
import { createHash } from 'node:crypto';
import { problem } from '#errors.ts';

export interface Target {
  /** The address shown, the base of relative links, and the cache's key: http(s), or `blob:` for what has none. */
  readonly url: string;
  /** HTML or text that came with the request; nothing is fetched then. */
  readonly given?: { readonly text: string; readonly mediaType: string } | undefined;
  /** A file that came with the request and is no text; nothing is fetched then. */
  readonly upload?:
    | {
        readonly bytes: Uint8Array;
        readonly mediaType: string;
        readonly contentType?: string | undefined;
        readonly name?: string | undefined;
        /** The option that it came in; `file` when it is not said. */
        readonly option?: 'file' | 'pdf';
      }
    | undefined;
}

/** As much as a request line can hold. */
const MAX_LENGTH = 64 * 1024;
/** The longest name that DNS knows (RFC 1035, section 2.3.4), with its dot. */
const MAX_HOST_LENGTH = 254;

const invalid = (message: string, value?: string) =>
  problem('ParamValidationError', { path: 'url', message, ...(value !== undefined && { value: value.slice(0, 200) }) });

/**
 * A cleaned http(s) address from what people type (contract, section 2.1). `ownHosts` are the names under which this
 * server is asked, so that its own address in front of a target falls away. Throws ParamValidationError, path `url`.
 */
export function cleanUrl(typed: string, ownHosts: readonly string[] = []): string {
  if (typed.length > MAX_LENGTH) throw invalid(`The address is longer than ${MAX_LENGTH} characters`);
  let text = withoutOwnHost(typed.trim(), ownHosts);
  if (!text) throw invalid('No address was given');
  // `view-source:https://a.b` and `https://https://a.b` mean what stands last; one slash after a scheme is enough.
  text = text
    .replace(/^(?:[a-z][a-z0-9+.-]*:\/{0,2})+(?=[a-z][a-z0-9+.-]*:\/)/i, '')
    .replace(/^([a-z][a-z0-9+.-]*):\/+(?!\/)/i, '$1://');
  const scheme = /^([a-z][a-z0-9+.-]*):(.*)$/is.exec(text);
  if (!scheme) text = `http://${text.replace(/^\/+/, '')}`;
  else if (/^\d{1,5}(?:[/?#]|$)/.test(scheme[2]!)) text = `http://${text}`;
  else if (!/^https?$/i.test(scheme[1]!))
    throw invalid(`Only http and https URLs can be read, not ${scheme[1]}:`, typed);
  if (!URL.canParse(text)) throw invalid('The URL is not valid', typed);
  return normalised(new URL(text));
}

function withoutOwnHost(text: string, ownHosts: readonly string[]): string {
  for (const host of ownHosts) {
    const prefix = new RegExp(`^(?:https?:/{1,2})?${escapeRegExp(host)}/(?=.)`, 'i').exec(text);
    if (prefix) return text.slice(prefix[0].length);
  }
  return text;
}

const escapeRegExp = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

function normalised(url: URL): string {
  url.username = '';
  url.password = '';
  if (!url.hostname) throw invalid('The address has no host');
  if (url.hostname.length > MAX_HOST_LENGTH) throw invalid('The host name is too long');
  if (/[^.]\.$/.test(url.hostname)) url.hostname = url.hostname.replace(/\.$/, '');
  url.pathname = url.pathname.replace(/\/{2,}/g, '/');
  url.search = withoutTracking(url.search);
  const textFragment = url.hash.indexOf(':~:text=');
  if (textFragment >= 0) url.hash = url.hash.slice(0, textFragment).replace(/^#$/, '');
  return url.href;
}

/** Parameters named `utm_…` go, the others stay as they were written and in order. */
function withoutTracking(search: string): string {
  if (!/[?&]utm_/i.test(search)) return search;
  const kept = search
    .slice(1)
    .split('&')
    .filter((pair) => !/^utm_/i.test(pair));
  return kept.length ? `?${kept.join('&')}` : '';
}

/**
 * The target typed into the request line: everything after the first slash, percent-decoded once as a whole. Text that
 * cannot be decoded is taken as it is when it still is an address.
 */
export function decodePathTarget(requestUrl: string): string {
  const raw = requestUrl.replace(/^\//, '');
  try {
    return decodeURIComponent(raw);
  } catch {
    return raw;
  }
}

/** The address of a document that has none: a hash of what it says. */
export const blobUrl = (content: string | Uint8Array): string =>
  `blob:${createHash('sha256').update(content).digest('hex')}`;
