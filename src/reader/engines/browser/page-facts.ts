/** Data about a page from its responses: the types of its frames, refused URLs, and whether scripts loaded data. */
import type { Page, Response } from 'playwright-core';
import { isUrl } from '#is-url.ts';
import { EGRESS_HEADER } from '#net/proxy/egress-header.ts';
import { mediaTypeOf } from '../media-type.ts';
import { frameOf } from './routing.ts';

/** Resource types that may be a frame's document, and the maximum number of remembered entries. */
const FRAME_TYPES = new Set(['document', 'other', 'object']);
const MAX_FRAME_TYPES = 200;

export interface PageFacts {
  noteResponse(response: Response): void;
  /** Call when scripts of the page loaded data without a response, for example over a WebSocket. */
  noteData(): void;
  /** Whether the proxy responded in place of the server of a frame's document. */
  isRefused(url: string): boolean;
  /** Whether scripts of the page itself, not its frames, loaded data. */
  loadedData(): boolean;
  /** The media type of a document loaded into a frame, if known. */
  frameType(url: string): string | undefined;
}

export function createPageFacts(page: Page): PageFacts {
  const frameTypes = new Map<string, string>();
  const refused = new Set<string>();
  let loadedData = false;
  return {
    noteResponse(response) {
      loadedData ||=
        frameOf(response.request()) === page.mainFrame() && isData(response, isOfHost(response.url(), page.url()));
      const isByProxy = response.headers()[EGRESS_HEADER] !== undefined;
      if (isByProxy && refused.size < MAX_FRAME_TYPES) refused.add(response.url());
      if (!FRAME_TYPES.has(response.request().resourceType()) || frameTypes.size >= MAX_FRAME_TYPES) return;
      frameTypes.set(response.url(), mediaTypeOf(response.headers()['content-type']));
    },
    noteData() {
      loadedData = true;
    },
    isRefused: (url) => refused.has(url),
    loadedData: () => loadedData,
    frameType: (url) => frameTypes.get(url),
  };
}

/**
 * Resource types by which scripts load data. Scripts may contain data too; responses to analytics requests do not
 * count.
 */
const ASKS_FOR_DATA = new Set(['xhr', 'fetch', 'eventsource']);
const DATA_TYPE = /json|html|xml|javascript|event-stream|^text\/(?!plain)/;
const AS_SCRIPT = /[?&](?:callback|jsonp|cb)=/i;

/** `isOwn`: whether the request went to the host of the page. */
function isData(response: Response, isOwn: boolean): boolean {
  const type = response.request().resourceType();
  if (type === 'script') return AS_SCRIPT.test(response.url());
  if (!ASKS_FOR_DATA.has(type) || response.status() === 204) return false;
  return isOwn || DATA_TYPE.test(mediaTypeOf(response.headers()['content-type']));
}

const isOfHost = (one: string, other: string): boolean =>
  isUrl(one) && isUrl(other) && new URL(one).host === new URL(other).host;
