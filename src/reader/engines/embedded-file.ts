/** Finds the file that a page embeds in a frame, `embed` or `object`. */
import { typeOfFileName } from '#documents/detect.ts';
import { attribute, type Child, type Document, type Element, find, following, isElement, TEXT } from '#html/node.ts';
import { isUrl } from '#is-url.ts';
import { declaredMedia } from './media-type.ts';

export interface EmbeddedFile {
  readonly url: string;
  /** Whether the page has no other content. */
  readonly alone: boolean;
}

const EMBEDS = new Set(['embed', 'object', 'iframe']);
const INVISIBLE = new Set(['script', 'style', 'noscript', 'template', 'head']);

/** The first embedded file, recognized by its declared type, else by its file name. */
export function findEmbeddedFile(document: Document, url: string): EmbeddedFile | undefined {
  let base: string | undefined;
  let found: string | undefined;
  let others = 0;
  let skip = false;
  for (let node: Child | null = following(document, document); node; node = following(node, document, skip)) {
    skip = false;
    if (node.type === TEXT && node.value.trim() !== '') others++;
    if (!isElement(node)) continue;
    // The content of these elements is a fallback for browsers that cannot show the file.
    skip = INVISIBLE.has(node.name) || EMBEDS.has(node.name);
    if (!EMBEDS.has(node.name)) continue;
    base ??= baseOf(document, url);
    const file = found === undefined ? fileOf(node, base) : undefined;
    if (file === undefined) others++;
    else found = file;
  }
  return found === undefined ? undefined : { url: found, alone: others === 0 };
}

function fileOf(element: Element, base: string): string | undefined {
  const address = attribute(element, 'src') || attribute(element, 'data');
  if (!address || !isUrl(address, base)) return undefined;
  const url = new URL(address, base);
  if (!/^https?:$/.test(url.protocol)) return undefined;
  const type = attribute(element, 'type') || typeOfFileName(url.pathname);
  return type && declaredMedia(type).kind === 'file' ? url.href : undefined;
}

function baseOf(document: Document, url: string): string {
  const base = find(document, 'base');
  const href = base && attribute(base, 'href');
  return href && isUrl(href, url) ? new URL(href, url).href : url;
}
