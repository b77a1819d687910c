/** Detects pages that only show a file in a frame, `embed` or `object`. The file is then the content. */

import { typeOfFileName } from '#documents/detect.ts';
import { declaredMedia } from '../media-type.ts';
import type { PageDocument, PageElement, PageNode } from './dom.ts';

declare const document: PageDocument;

export interface EmbeddedDocument {
  readonly url: string;
  /** Declared media type; '' if there is none. */
  readonly type: string;
}

/** Runs in the page. `undefined` if the page has any content other than one embedded document. */
export function findSoleEmbedded(): EmbeddedDocument | undefined {
  const INVISIBLE = new Set(['script', 'style', 'link', 'meta', 'noscript', 'template', 'title', 'base']);
  const SHOWN = new Set(['embed', 'object', 'iframe']);
  const MAX_NODES = 50;
  let found: PageElement | undefined;
  let seen = 0;
  const stack: PageNode[] = document.body ? [document.body] : [];
  for (let node = stack.pop(); node; node = stack.pop()) {
    if (++seen > MAX_NODES) return undefined;
    if (node.nodeType === 3 && (node.nodeValue ?? '').trim()) return undefined;
    if (node.nodeType !== 1) continue;
    const element = node as PageElement;
    if (INVISIBLE.has(element.localName)) continue;
    if (SHOWN.has(element.localName)) {
      if (found) return undefined;
      found = element;
      // The content of such an element is a fallback for browsers that cannot show the file.
      continue;
    }
    for (let child = node.firstChild; child; child = child.nextSibling) {
      stack.push(child);
      if (stack.length > MAX_NODES) return undefined;
    }
  }
  const address = found?.getAttribute('src') || found?.getAttribute('data');
  if (!found || !address) return undefined;
  try {
    return { url: new URL(address, document.baseURI).href, type: found.getAttribute('type') ?? '' };
  } catch {
    return undefined;
  }
}

/**
 * URL of the embedded document if it is a file, judged by the type of the response, else by the declared type, else by
 * the file name.
 */
export function embeddedFileUrl(
  { url, type }: EmbeddedDocument,
  answeredType: (url: string) => string | undefined,
): string | undefined {
  if (!/^https?:/i.test(url)) return undefined;
  const known = answeredType(url) || type || typeOfFileName(new URL(url).pathname);
  return known && declaredMedia(known).kind === 'file' ? url : undefined;
}
