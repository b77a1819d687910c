/** The form of the rules that recognize the pages of one product or site. All conditions of a rule must hold. */
import type { BlockedKind } from '../blocked.ts';
import type { MarkedHeader } from '../response-marks.ts';

export interface VendorRule {
  /** `by phrases`: what the page says decides, and `otherwise` if it says nothing known. */
  readonly kind: BlockedKind | 'by phrases';
  readonly otherwise?: BlockedKind | undefined;
  readonly by: string;
  /** Where the fact is published. */
  readonly source: string;
  readonly status?: RegExp | undefined;
  readonly header?: Readonly<Partial<Record<MarkedHeader, RegExp>>> | undefined;
  readonly cookie?: RegExp | undefined;
  /** In attributes, inline scripts and comments, never in the text of the page. */
  readonly mark?: RegExp | undefined;
  /** In the title, which is normalized. */
  readonly title?: RegExp | undefined;
  /** In title, headings or text, which are normalized. */
  readonly says?: RegExp | undefined;
  /** Maximum letters of the page's own text. Default: 1,500. */
  readonly ownLetters?: number | undefined;
  /** Whether the page must be without fields for text, unlike a form that has a captcha. */
  readonly isWithoutFields?: boolean | undefined;
}
