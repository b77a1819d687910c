/** Going through an XML tree without recursion: what happens at an element is told by its visitor. */
import type { XmlElement, XmlNode } from './xml.ts';

/** Returned by a visitor to pass over what is inside an element. */
export const SKIP = Symbol('skip');

/** Called when everything inside an element is done. */
export type Leave = () => void;

export interface Visitor {
  enter(element: XmlElement): Leave | typeof SKIP | undefined;
  text?(text: string): void;
}

interface Level {
  readonly nodes: readonly XmlNode[];
  readonly leave: Leave | undefined;
  at: number;
}

/** Visits an element and everything under it, in document order. */
export function walk(root: XmlElement, visitor: Visitor): void {
  const levels: Level[] = [{ nodes: [root], leave: undefined, at: 0 }];
  for (;;) {
    const level = levels.at(-1)!;
    const node = level.nodes[level.at++];
    if (node === undefined) {
      levels.pop();
      level.leave?.();
      if (levels.length === 0) return;
    } else if (typeof node === 'string') visitor.text?.(node);
    else {
      const leave = visitor.enter(node);
      if (leave !== SKIP) levels.push({ nodes: node.children, leave, at: 0 });
    }
  }
}
