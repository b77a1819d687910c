/** Long documents a piece at a time: the children of some elements, each as a tree that can go when it is read. */
import { type Attributes, readXml, type XmlInput } from './read.ts';
import type { XmlElement, XmlNode } from './xml.ts';

interface Building extends XmlElement {
  readonly children: XmlNode[];
}

/**
 * Calls `take` with each child element of the elements of a name, in document order, together with that name. Such
 * elements inside a piece are part of it. Returns whether the document was whole: what follows a fault is lost.
 * Throws DocumentFault (`too large`) and what `take` throws.
 */
export function readPieces(
  input: XmlInput,
  parents: ReadonlySet<string>,
  take: (piece: XmlElement, parent: string) => void,
): boolean {
  const above: string[] = [];
  const open: Building[] = [];
  return readXml(
    input,
    {
      open(name: string, attributes: Attributes) {
        const outer = open.at(-1);
        if (!outer && !parents.has(above.at(-1) ?? '')) {
          above.push(name);
          return;
        }
        const element: Building = { name, attributes, children: [] };
        outer?.children.push(element);
        open.push(element);
      },
      close() {
        const element = open.pop();
        if (!element) above.pop();
        else if (open.length === 0) take(element, above.at(-1)!);
      },
      text(text: string) {
        open.at(-1)?.children.push(text);
      },
    },
    { lenient: true },
  );
}
