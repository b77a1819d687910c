/** Walks an XML tree without recursion, calling a visitor for each element. */
import type { XmlElement, XmlNode } from './xml.ts';

/** Returned by a visitor to skip the content of an element. */
export const SKIP = Symbol('skip');

/** Called after the content of an element. */
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

/** Visits an element and its descendants in document order. */
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
