/** A page as a person sees it: late parts moved into place, invisible parts removed. */
import type { Document } from '#html/node.ts';
import { recordHidden, recordReplaced } from '../content/record-removals.ts';
import type { RemovalLog } from '../content/removal-log.ts';
import type { DetachedElements } from './detached-elements.ts';
import { removeHidden } from './hidden.ts';
import { type PageStyles, readPageStyles } from './page-styles.ts';
import { completeRawPage } from './raw-page.ts';

export interface InvisibleParts {
  /** Number of invisible parts that were removed. */
  readonly hiddenCount: number;
  /** Whether most of the text is hidden by styles and was kept. */
  readonly hiddenKept: boolean;
  /** Elements hidden by style sheets, no longer in the document. */
  readonly detached: DetachedElements;
  /** Whether all style sheets of the page were applied. */
  readonly stylesComplete: boolean;
}

export interface InvisiblePartsOptions {
  /** Styles of the original document. Default: read from its own style sheets. */
  readonly styles?: PageStyles;
  readonly removals?: RemovalLog | undefined;
}

/** Changes the document in place. */
export function removeInvisibleParts(
  document: Document,
  { styles = readPageStyles(document), removals }: InvisiblePartsOptions = {},
): InvisibleParts {
  // Once a part has been moved into place, the rules that hide waiting parts no longer apply to it.
  completeRawPage(document, {
    onRemove: removals && ((node) => recordReplaced(removals, node)),
    onPlace: styles.forget,
  });
  const { count, kept, detached } = removeHidden(
    document,
    removals && ((node, reason) => recordHidden(removals, node, reason)),
    styles,
  );
  return { hiddenCount: count, hiddenKept: kept, detached, stylesComplete: styles.complete };
}
