/** Documents that are no pages: nothing was sent, a file was sent as a page, or all that the page shows is a file. */
import { within } from '#concurrency/deadline.ts';
import { fileNameOf } from '#net/fetch/file-name.ts';
import { actualMedia, declaredMedia, type Media } from '../media-type.ts';
import { embeddedFile, soleEmbedded } from './embedded.ts';
import { FileTargetError, unlikeBrowsers, withoutContent } from './failures.ts';
import type { MainDocument, Network } from './network.ts';
import type { TakenDocument } from './snapshot.ts';
import type { World } from './world.ts';

/** A page that shows nothing but a file has few elements of its own. */
const MOST_ELEMENTS = 60;
const LOOK_MS = 1_000;
/** So much of a body tells what it is. */
const START_BYTES = 4_096;

/** What a browser makes of nothing. */
const BARE = /^<html><head><\/head><body><\/body><\/html>$/;
/** What it makes of bytes, and of XML, that are sent as a page: text or a feed without anything before it, or its own view. */
const NO_HTML =
  /^<html><head><\/head><body>(?:[^<]|<(?:rss|feed|rdf:rdf|urlset|sitemapindex)\b)|^<html><head><style id="xml-viewer-style">|<parsererror\b/;

/**
 * Throws AssertionFailureError when the target sent nothing, FileTarget when it sent a file under the type of a page, a
 * page that only shows a file, or a page that the browser does not show as one.
 */
export async function refuseOther({ html, captured }: TakenDocument, network: Network, world: World): Promise<void> {
  const main = network.main();
  if (!main) return;
  if (!PAGE_TYPES.has(captured.contentType)) throw unlikeBrowsers(main.url, main.mediaType);
  if (NO_HTML.test(html.slice(0, START_BYTES))) await refuseFile(main, html);
  if (captured.elements > MOST_ELEMENTS) return;
  if (BARE.test(html)) {
    // Scripts may have emptied it: that is a page.
    const bytes = await bodyOf(main);
    if (!bytes) throw unlikeBrowsers(main.url, main.mediaType);
    if (bytes.length === 0) throw withoutContent(main.status);
    return;
  }
  if (!/<(?:i?frame|embed|object)\b/i.test(html)) return;
  const embedded = await world.call(soleEmbedded, undefined, LOOK_MS).catch(() => undefined);
  const file = embedded && embeddedFile(embedded, (url) => network.framed(url));
  if (file) throw new FileTargetError(file, embedded.type);
}

/** A large file is told by the text that its first bytes became, long before all of it is there. */
async function refuseFile(main: MainDocument, html: string): Promise<void> {
  // XML that is not well-formed may still be HTML.
  if (html.includes('<parsererror') && declaredMedia(main.mediaType).kind === 'html') throw unlikeBrowsers(main.url);
  const start = html.slice(html.indexOf('<body>') + '<body>'.length).slice(0, START_BYTES);
  refuseMedia(main, Buffer.from(start, 'latin1'));
  const bytes = await bodyOf(main);
  if (bytes) refuseMedia(main, bytes);
}

function refuseMedia(main: MainDocument, bytes: Uint8Array): void {
  const { kind, mediaType } = mediaOf(main, bytes);
  if (kind === 'file' || kind === 'other') throw new FileTargetError(main.url, mediaType);
}

/** What the browser says it made of a page; text that is a page by its content is shown as its source. */
const PAGE_TYPES = new Set(['text/html', 'application/xhtml+xml']);

/** Undefined: it is not to be had, as that of a redirect that leads nowhere. */
export const bodyOf = ({ response }: MainDocument, limitMs = LOOK_MS): Promise<Uint8Array | undefined> =>
  within(limitMs, response!.body()).catch(() => undefined);

/** What a document is by its header, its first bytes and its name. */
export const mediaOf = ({ url, mediaType, response }: MainDocument, bytes: Uint8Array): Media =>
  actualMedia(
    declaredMedia(mediaType),
    bytes.subarray(0, START_BYTES),
    fileNameOf(url, response?.headers()['content-disposition']),
  );
