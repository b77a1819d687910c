/** A page as a person sees it: late parts moved into place, invisible parts removed. */
import type { Document } from '#html/node.ts';
import { noteHidden, noteReplaced } from '../content/dropped.ts';
import type { Notes } from '../content/removals.ts';
import { removeHidden } from './hidden.ts';
import { type PageStyles, pageStyles } from './page-styles.ts';
import type { PutAside } from './put-aside.ts';
import { settle } from './settle.ts';

export interface Seen {
  /** Number of invisible parts that were removed. */
  readonly hiddenCount: number;
  /** Whether most of the text is hidden by styles and was kept. */
  readonly hiddenKept: boolean;
  /** Elements hidden by style sheets, no longer in the document. */
  readonly aside: PutAside;
  /** Whether all style sheets of the page were applied. */
  readonly stylesComplete: boolean;
}

export interface SeeOptions {
  /** Styles of the original document. Default: read from its own style sheets. */
  readonly styles?: PageStyles;
  readonly notes?: Notes | undefined;
}

/** Changes the document in place. */
export function seePage(document: Document, { styles = pageStyles(document), notes }: SeeOptions = {}): Seen {
  // A part that was moved into place is no longer hidden by the rules for waiting parts.
  settle(document, { onRemove: notes && ((node) => noteReplaced(notes, node)), onPlace: styles.forget });
  const { count, kept, aside } = removeHidden(
    document,
    notes && ((node, reason) => noteHidden(notes, node, reason)),
    styles,
  );
  return { hiddenCount: count, hiddenKept: kept, aside, stylesComplete: styles.complete };
}
