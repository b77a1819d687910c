/** A page as a person sees it: pictures and late parts in place, invisible parts removed. */
import type { Child, Document, Element } from '#html/node.ts';
import { recordHidden, recordReplaced } from '../content/record-removals.ts';
import type { RemovalLog } from '../content/removal-log.ts';
import { appendEmbeddedText, type EmbeddedSource } from '../embedded/embedded-text.ts';
import { applyRoles } from './aria-elements.ts';
import { completePictures } from './complete-pictures.ts';
import type { DetachedElements } from './detached-elements.ts';
import { removeHidden } from './hidden.ts';
import { type PageStyles, readPageStyles } from './page-styles.ts';
import { completeRawPage } from './raw-page.ts';

export interface InvisibleParts {
  /** Number of invisible parts that were removed. */
  readonly hiddenCount: number;
  /** Number of those that are worth a warning (notable.ts). */
  readonly notableCount: number;
  /** Whether most of the text is hidden by styles and was kept. */
  readonly hiddenKept: boolean;
  /** Whether the main part of the page was hidden. */
  readonly isMainHidden: boolean;
  /** Elements hidden by style sheets, no longer in the document. */
  readonly detached: DetachedElements;
  /** Whether all style sheets of the page were applied. */
  readonly stylesComplete: boolean;
  /** Set if the page shows next to nothing: its text comes from there. */
  readonly lastResort?: EmbeddedSource | 'hidden text' | undefined;
  /** The element that holds this text if it was embedded in scripts. All of it is content. */
  readonly embedded?: Element | undefined;
}

export interface InvisiblePartsOptions {
  /** Styles of the original document. Default: read from its own style sheets. */
  readonly styles?: PageStyles;
  readonly removals?: RemovalLog | undefined;
  /** Whether to use text that a person does not see if the page shows next to nothing. */
  readonly allowsLastResort?: boolean;
}

/** Changes the document in place. */
export function removeInvisibleParts(
  document: Document,
  { styles = readPageStyles(document), removals, allowsLastResort = false }: InvisiblePartsOptions = {},
): InvisibleParts {
  applyRoles(document);
  completePictures(document);
  // Once a part has been moved into place, the rules that hide waiting parts no longer apply to it.
  completeRawPage(document, {
    onRemove: removals && ((node) => recordReplaced(removals, node)),
    onPlace: styles.forget,
  });
  const onRemove = removals && ((node: Child, reason: string) => recordHidden(removals, node, reason));
  const hidden = removeHidden(document, onRemove, styles, allowsLastResort);
  const { count, notable, kept, detached, waits, isBare, isMainHidden } = hidden;
  const parts = {
    hiddenCount: count,
    notableCount: notable,
    hiddenKept: kept && !waits,
    isMainHidden,
    detached,
    stylesComplete: styles.complete,
  };
  if (!allowsLastResort || !isBare) return parts;
  if (waits) return { ...parts, lastResort: 'hidden text' };
  const embedded = appendEmbeddedText(document);
  if (!embedded) return parts;
  // What scripts would insert may have hidden parts too.
  const more = removeHidden(document, onRemove, styles);
  return {
    ...parts,
    hiddenCount: count + more.count,
    notableCount: notable + more.notable,
    lastResort: embedded.source,
    embedded: embedded.element,
  };
}
