/** A page as a person sees it: late parts in their places, what nobody can see left out. */
import type { Document } from '#html/node.ts';
import { noteHidden, noteReplaced } from '../content/dropped.ts';
import type { Notes } from '../content/removals.ts';
import { removeHidden } from './hidden.ts';
import { type PageStyles, pageStyles } from './page-styles.ts';
import type { PutAside } from './put-aside.ts';
import { settle } from './settle.ts';

export interface Seen {
  /** Pieces that a person cannot see, which were left out. */
  readonly hiddenCount: number;
  /** Whether most of the text is hidden by styles and was kept. */
  readonly hiddenKept: boolean;
  /** What style sheets hide: it stands in the document no more. */
  readonly aside: PutAside;
  /** Whether all style sheets of the page were applied. */
  readonly stylesComplete: boolean;
}

export interface SeeOptions {
  /** The styles of the document as it came; those of its own sheets unless they were read before. */
  readonly styles?: PageStyles;
  readonly notes?: Notes | undefined;
}

/** Changes the document itself. */
export function seePage(document: Document, { styles = pageStyles(document), notes }: SeeOptions = {}): Seen {
  // A part that was put into its place is no longer hidden by the rules for parts that wait.
  settle(document, { onRemove: notes && ((node) => noteReplaced(notes, node)), onPlace: styles.forget });
  const { count, kept, aside } = removeHidden(
    document,
    notes && ((node, reason) => noteHidden(notes, node, reason)),
    styles,
  );
  return { hiddenCount: count, hiddenKept: kept, aside, stylesComplete: styles.complete };
}
