/** What a page without any text says of itself: better than nothing, where scripts would have filled it. */
import { append, type Document, Element, elements, Text } from '#html/node.ts';

const MEDIA = new Set(['img', 'picture', 'video', 'audio', 'iframe', 'embed', 'object', 'math']);

/** Whether there is something to look at or listen to. */
export function hasMedia(root: Element | Document): boolean {
  for (const element of elements(root)) if (MEDIA.has(element.name)) return true;
  return false;
}

/** Title and description as a heading and a paragraph; null when the head says nothing of the page. */
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
