/** Pages that only show a file: a frame, `embed` or `object` and nothing else. The file is what there is to read. */

import { typeOfFileName } from '#documents/detect.ts';
import { declaredMedia } from '../media-type.ts';
import type { PageDocument, PageElement, PageNode } from './dom.ts';

declare const document: PageDocument;

export interface Embedded {
  readonly address: string;
  /** As the page declares it; '' when it does not. */
  readonly type: string;
}

/** Runs in the page. Undefined when there is anything to read beside one embedded document. */
export function soleEmbedded(): Embedded | undefined {
  const SILENT = new Set(['script', 'style', 'link', 'meta', 'noscript', 'template', 'title', 'base']);
  const SHOWN = new Set(['embed', 'object', 'iframe']);
  const MOST = 50;
  let found: PageElement | undefined;
  let seen = 0;
  const stack: PageNode[] = document.body ? [document.body] : [];
  for (let node = stack.pop(); node; node = stack.pop()) {
    if (++seen > MOST) return undefined;
    if (node.nodeType === 3 && (node.nodeValue ?? '').trim()) return undefined;
    if (node.nodeType !== 1) continue;
    const element = node as PageElement;
    if (SILENT.has(element.localName)) continue;
    if (SHOWN.has(element.localName)) {
      if (found) return undefined;
      found = element;
      // What stands inside is for browsers that cannot show it.
      continue;
    }
    for (let child = node.firstChild; child; child = child.nextSibling) {
      stack.push(child);
      if (stack.length > MOST) return undefined;
    }
  }
  const address = found?.getAttribute('src') || found?.getAttribute('data');
  if (!found || !address) return undefined;
  try {
    return { address: new URL(address, document.baseURI).href, type: found.getAttribute('type') ?? '' };
  } catch {
    return undefined;
  }
}

/** The address of what is shown, when it is a file: by the server's word, else the page's, else by its name. */
export function embeddedFile(
  { address, type }: Embedded,
  answeredType: (url: string) => string | undefined,
): string | undefined {
  if (!/^https?:/i.test(address)) return undefined;
  const known = answeredType(address) || type || typeOfFileName(new URL(address).pathname);
  return known && declaredMedia(known).kind === 'file' ? address : undefined;
}
