/** The result of the detection of blocked pages: what kind of page was received in place of the content. */

export const BLOCKED_KINDS = [
  'challenge',
  'denied',
  'rate-limit',
  'login',
  'paywall',
  'consent',
  'age',
  'geo',
  'not-found',
  'parked',
  'js-shell',
  'server-default',
  'server-error',
  'maintenance',
] as const;

export type BlockedKind = (typeof BLOCKED_KINDS)[number];

/** `by` of a page that no vendor signed. */
export const GENERIC = 'generic';

export interface Blocked {
  readonly kind: BlockedKind;
  /** The product or site that sent the page, or `generic`. */
  readonly by: string;
}
