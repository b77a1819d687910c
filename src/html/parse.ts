/**
 * Parses HTML text into a tree of node.ts, as specified by the HTML standard. The strings in the tree are slices that
 * retain the source in memory: drop the tree after use.
 */
import type { Document } from './node.ts';
import { TreeBuilder, type TreeLimits } from './tree-builder.ts';

/** Elements nested deeper than this are flattened, as in browsers. */
export const MAX_DEPTH = 512;
/** Maximum number of elements, attributes and comments in a document; far more than any page made for people has. */
export const MAX_PIECES = 1_000_000;

const LIMITS: TreeLimits = { maxDepth: MAX_DEPTH, maxPieces: MAX_PIECES };

export interface ParsedPage {
  document: Document;
  /** Depth of the deepest element, up to the limit where flattening begins. */
  depth: number;
  elements: number;
  /** False if the source has more than `maxPieces`; the tree is then truncated. */
  complete: boolean;
}

/** Parses a whole document and measures it. The document always has an html, head and body element. */
export function parsePage(source: string, limits: Partial<TreeLimits> = {}): ParsedPage {
  const builder = TreeBuilder.forDocument();
  builder.run(source, { ...LIMITS, ...limits });
  const { document, depth, elements, complete } = builder;
  document.mayHaveBase = builder.hasBase;
  return { document, depth, elements, complete };
}

/** Parses a whole document. It always has an html, head and body element. */
export const parseDocument = (source: string): Document => parsePage(source).document;

/** Parses a piece of HTML; its nodes are the children of a new document. */
export function parseFragment(source: string): Document {
  const builder = TreeBuilder.forFragment();
  builder.run(source, LIMITS);
  return builder.getFragment();
}
