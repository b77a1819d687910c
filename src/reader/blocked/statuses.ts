/** What the HTTP status of a page says about it, if the page has little text. */
import type { BlockedKind } from './blocked.ts';

export interface StatusRule {
  readonly status: RegExp;
  readonly kind: BlockedKind;
  /** What the words of the page may say instead. */
  readonly unless: readonly BlockedKind[];
  readonly source: string;
}

const RFC_9110 = 'https://www.rfc-editor.org/rfc/rfc9110#section-';
const GATES: readonly BlockedKind[] = ['geo', 'rate-limit', 'challenge', 'login', 'age'];

export const STATUS_RULES: readonly StatusRule[] = [
  { status: /^401$/, kind: 'login', unless: ['geo', 'challenge', 'rate-limit'], source: `${RFC_9110}15.5.2` },
  { status: /^402$/, kind: 'paywall', unless: GATES, source: `${RFC_9110}15.5.3` },
  {
    status: /^(?:404|410)$/,
    kind: 'not-found',
    unless: ['geo', 'challenge', 'parked', 'server-default'],
    source: `${RFC_9110}15.5.5`,
  },
  {
    status: /^429$/,
    kind: 'rate-limit',
    unless: ['geo', 'challenge'],
    source: 'https://www.rfc-editor.org/rfc/rfc6585#section-4',
  },
  {
    status: /^451$/,
    kind: 'geo',
    unless: ['not-found'],
    source: 'https://www.rfc-editor.org/rfc/rfc7725#section-3',
  },
  { status: /^503$/, kind: 'maintenance', unless: [...GATES, 'denied', 'server-error'], source: `${RFC_9110}15.6.4` },
  { status: /^5\d\d$/, kind: 'server-error', unless: GATES, source: `${RFC_9110}15.6` },
  {
    status: /^(?:403|405|406)$/,
    kind: 'denied',
    unless: [...GATES, 'not-found', 'parked', 'maintenance', 'server-default'],
    source: `${RFC_9110}15.5.4`,
  },
  {
    status: /^4\d\d$/,
    kind: 'denied',
    unless: [...GATES, 'not-found', 'maintenance', 'server-error'],
    source: `${RFC_9110}15.5`,
  },
];
