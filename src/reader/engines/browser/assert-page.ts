/**
 * Detects documents that are not web pages: an empty response, a file sent as a page, or a page that only shows a file.
 */
import { within } from '#concurrency/deadline.ts';
import { fileNameOf } from '#net/fetch/file-name.ts';
import { actualMedia, declaredMedia, type Media } from '../media-type.ts';
import { embeddedFileUrl, findSoleEmbedded } from './embedded.ts';
import { emptyResponse, FileTargetError, unreadableByBrowser } from './failures.ts';
import type { MainDocument, Network } from './network.ts';
import type { CapturedDocument } from './snapshot.ts';
import type { World } from './world.ts';

/** A page that only shows a file has few elements. */
const MAX_ELEMENTS = 60;
const CALL_MS = 1_000;
/** Number of bytes needed to detect the type of a body. */
const START_BYTES = 4_096;

/** The HTML that the browser shows for an empty document. */
const BARE = /^<html><head><\/head><body><\/body><\/html>$/;
/**
 * The HTML that the browser shows for bytes or XML sent as a page: text or a feed at the very start, or the browser's
 * built-in viewer.
 */
const NO_HTML =
  /^<html><head><\/head><body>(?:[^<]|<(?:rss|feed|rdf:rdf|urlset|sitemapindex)\b)|^<html><head><style id="xml-viewer-style">|<parsererror\b/;

/**
 * Throws AssertionFailureError if the response was empty; FileTargetError for a file sent as a page, a page that only
 * shows a file, and a document that the browser does not show as a page.
 */
export async function assertPage({ html, captured }: CapturedDocument, network: Network, world: World): Promise<void> {
  const main = network.main();
  if (!main) return;
  if (!PAGE_TYPES.has(captured.contentType)) throw unreadableByBrowser(main.url, main.mediaType);
  if (NO_HTML.test(html.slice(0, START_BYTES))) await refuseFile(main, html);
  if (captured.elements > MAX_ELEMENTS) return;
  if (BARE.test(html)) {
    // A page that was emptied by its scripts still counts as a page.
    const bytes = await bodyOf(main);
    if (!bytes) throw unreadableByBrowser(main.url, main.mediaType);
    if (bytes.length === 0) throw emptyResponse(main.status);
    return;
  }
  if (!/<(?:i?frame|embed|object)\b/i.test(html)) return;
  const embedded = await world.call(findSoleEmbedded, undefined, CALL_MS).catch(() => undefined);
  const file = embedded && embeddedFileUrl(embedded, (url) => network.frameType(url));
  if (file) throw new FileTargetError(file, embedded.type);
}

/** Large files are recognized by the text made from their first bytes, before they have loaded. */
async function refuseFile(main: MainDocument, html: string): Promise<void> {
  // Malformed XML may still be readable as HTML.
  if (html.includes('<parsererror') && declaredMedia(main.mediaType).kind === 'html')
    throw unreadableByBrowser(main.url);
  const start = html.slice(html.indexOf('<body>') + '<body>'.length).slice(0, START_BYTES);
  refuseMedia(main, Buffer.from(start, 'latin1'));
  const bytes = await bodyOf(main);
  if (bytes) refuseMedia(main, bytes);
}

function refuseMedia(main: MainDocument, bytes: Uint8Array): void {
  const { kind, mediaType } = mediaOf(main, bytes);
  if (kind === 'file' || kind === 'other') throw new FileTargetError(main.url, mediaType);
}

/** Content types of documents that are shown as pages. If plain text contains a page, it is shown as source. */
const PAGE_TYPES = new Set(['text/html', 'application/xhtml+xml']);

/** The body of a response; `undefined` if it is not available, for example for a redirect without a target. */
export const bodyOf = ({ response }: MainDocument, limitMs = CALL_MS): Promise<Uint8Array | undefined> =>
  within(limitMs, response!.body()).catch(() => undefined);

/** The media type of a document, determined from its header, first bytes and file name. */
export const mediaOf = ({ url, mediaType, response }: MainDocument, bytes: Uint8Array): Media =>
  actualMedia(
    declaredMedia(mediaType),
    bytes.subarray(0, START_BYTES),
    fileNameOf(url, response?.headers()['content-disposition']),
  );
