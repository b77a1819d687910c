/**
 * HTML text to a tree, by the parsing rules of the HTML standard. The tree is ours: see node.ts. Its strings are cut
 * from the source and keep it in memory: drop the tree when it is read.
 */
import type { Document } from './node.ts';
import { type Limits, TreeBuilder } from './tree-builder.ts';

/** Elements nested deeper than this are flattened, as browsers do. */
export const MAX_DEPTH = 512;
/** Elements, attributes and comments of one document; far beyond any page that is meant to be read. */
export const MAX_PIECES = 1_000_000;

const LIMITS: Limits = { maxDepth: MAX_DEPTH, maxPieces: MAX_PIECES };

export interface Parsed {
  document: Document;
  /** How deep elements were nested, counted up to where flattening begins. */
  depth: number;
  elements: number;
  /** False when the source has more than `maxPieces`: the tree then ends early. */
  complete: boolean;
}

/** A whole document with what was counted on the way; there is always an html, head and body element in it. */
export function parsePage(source: string, limits: Partial<Limits> = {}): Parsed {
  const builder = TreeBuilder.forDocument();
  builder.run(source, { ...LIMITS, ...limits });
  const { document, depth, elements, complete } = builder;
  document.mayHaveBase = builder.hasBase;
  return { document, depth, elements, complete };
}

/** A whole document; there is always an html, head and body element in it. */
export const parseDocument = (source: string): Document => parsePage(source).document;

/** The nodes of a piece of HTML, as children of a document of their own. */
export function parseFragment(source: string): Document {
  const builder = TreeBuilder.forFragment();
  builder.run(source, LIMITS);
  return builder.getFragment();
}
