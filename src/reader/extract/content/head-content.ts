/** Content for a page without text, taken from its head. Used if scripts would have filled the page. */
import { append, type Document, Element, elements, Text } from '#html/node.ts';

const MEDIA = new Set(['img', 'picture', 'video', 'audio', 'iframe', 'embed', 'object', 'math']);

/** Whether `root` contains an image, video or other media. */
export function hasMedia(root: Element | Document): boolean {
  for (const element of elements(root)) if (MEDIA.has(element.name)) return true;
  return false;
}

/** Title and description as a heading and a paragraph; null if the head has neither. */
export function headContent({ title, description }: { title: string; description: string }): Element | null {
  const text = description.trim();
  if (!text && !title) return null;
  const body = new Element('body');
  for (const [name, value] of [
    ['h1', title],
    ['p', text],
  ] as const) {
    if (!value) continue;
    const element = new Element(name);
    append(element, new Text(value));
    append(body, element);
  }
  return body;
}
