/** Reads long XML documents piecewise: each child of certain elements becomes a tree that can be freed after use. */
import { type Attributes, readXml, type XmlInput } from './read.ts';
import type { XmlElement, XmlNode } from './xml.ts';

interface Building extends XmlElement {
  readonly children: XmlNode[];
}

/**
 * Calls `onPiece` with each child element of the named elements and the name of its parent, in document order. Nested
 * elements of these names stay part of their piece. Returns false if the document ends at an error. Throws
 * DocumentError (`too large`) and what `onPiece` throws.
 */
export function readPieces(
  input: XmlInput,
  parents: ReadonlySet<string>,
  onPiece: (piece: XmlElement, parent: string) => void,
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
        else if (open.length === 0) onPiece(element, above.at(-1)!);
      },
      text(text: string) {
        open.at(-1)?.children.push(text);
      },
    },
    { lenient: true },
  );
}
