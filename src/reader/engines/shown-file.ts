/** The file that the source of a page shows in a frame, `embed` or `object`. */
import { typeOfFileName } from '#documents/detect.ts';
import { attribute, type Child, type Document, type Element, find, following, isElement, TEXT } from '#html/node.ts';
import { declaredMedia } from './media-type.ts';

export interface ShownFile {
  readonly address: string;
  /** Whether the page has nothing else to show. */
  readonly alone: boolean;
}

const SHOWS = new Set(['embed', 'object', 'iframe']);
const SILENT = new Set(['script', 'style', 'noscript', 'template', 'head']);

/** The first one, told by the page's own word for its type, else by its name. */
export function shownFile(document: Document, url: string): ShownFile | undefined {
  let base: string | undefined;
  let address: string | undefined;
  let others = 0;
  let passed = false;
  for (let node: Child | null = following(document, document); node; node = following(node, document, passed)) {
    passed = false;
    if (node.type === TEXT && node.value.trim() !== '') others++;
    if (!isElement(node)) continue;
    // What stands inside is for browsers that cannot show it.
    passed = SILENT.has(node.name) || SHOWS.has(node.name);
    if (!SHOWS.has(node.name)) continue;
    base ??= baseOf(document, url);
    const file = address === undefined ? fileOf(node, base) : undefined;
    if (file === undefined) others++;
    else address = file;
  }
  return address === undefined ? undefined : { address, alone: others === 0 };
}

function fileOf(element: Element, base: string): string | undefined {
  const address = attribute(element, 'src') || attribute(element, 'data');
  if (!address || !URL.canParse(address, base)) return undefined;
  const url = new URL(address, base);
  if (!/^https?:$/.test(url.protocol)) return undefined;
  const type = attribute(element, 'type') || typeOfFileName(url.pathname);
  return type && declaredMedia(type).kind === 'file' ? url.href : undefined;
}

function baseOf(document: Document, url: string): string {
  const base = find(document, 'base');
  const href = base && attribute(base, 'href');
  return href && URL.canParse(href, url) ? new URL(href, url).href : url;
}
