/** Reads the h-entry microformats of a page with a single entry, as opposed to a feed with several. */
import { attribute, type Document, ELEMENT, type Element, following, type Node } from '#html/node.ts';

/** The supported classes, each with its elements in document order. */
export type Microformats = ReadonlyMap<string, readonly Element[]>;

const SUPPORTED_CLASS = /(?:^|\s)(dt-published|dt-updated|p-author|u-featured|u-photo|h-entry)(?=\s|$)/;
const MAX_ELEMENTS = 20_000;
const MAX_PER_KIND = 10;

/** Empty unless the page has exactly one entry. */
export function readMicroformats(document: Document): Microformats {
  const found = new Map<string, Element[]>();
  let node: Node | null = following(document, document);
  for (let count = 0; node && count < MAX_ELEMENTS; node = following(node, document)) {
    if (node.type !== ELEMENT) continue;
    count++;
    const names = attribute(node, 'class');
    if (names === null || names.length > 1_000) continue;
    const name = names.includes('-') ? SUPPORTED_CLASS.exec(names)?.[1] : undefined;
    if (!name) continue;
    const elements = found.get(name);
    if (!elements) found.set(name, [node]);
    else if (elements.length < MAX_PER_KIND) elements.push(node);
  }
  return found.get('h-entry')?.length === 1 ? found : new Map();
}
