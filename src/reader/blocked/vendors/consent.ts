/** Pages that ask for consent before a whole group of sites. */
import type { VendorRule } from './vendor-rule.ts';

export const CONSENT_PAGES: readonly VendorRule[] = [
  {
    kind: 'consent',
    by: 'google',
    source: 'https://policies.google.com/technologies/cookies',
    mark: /form\[action\]=https:\/\/consent\.google\.[a-z.]+\/save/,
    ownLetters: 900,
  },
  {
    kind: 'consent',
    by: 'youtube',
    source: 'https://policies.google.com/technologies/cookies',
    mark: /form\[action\]=https:\/\/consent\.youtube\.com\/save/,
    ownLetters: 900,
  },
  {
    kind: 'consent',
    by: 'yahoo',
    source: 'https://legal.yahoo.com/',
    mark: /collectConsent|copyConsent\?|originalDoneUrl|guce\.(?:yahoo|aol|advertising)\.|\[id\]=consent-page/,
    ownLetters: 1400,
  },
];
