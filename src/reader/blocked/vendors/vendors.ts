/** All rules by vendor, in the order in which they are tried. */
import { BOT_MANAGERS } from './bot-managers.ts';
import { CLOUDFLARE } from './cloudflare.ts';
import { CONSENT_PAGES } from './consent.ts';
import { CONTENT_NETWORKS } from './content-networks.ts';
import { DEFAULT_PAGES } from './default-pages.ts';
import { FIREWALLS } from './firewalls.ts';
import { PARKING } from './parking.ts';
import { SITES } from './sites.ts';
import type { VendorRule } from './vendor-rule.ts';
import { WIDGETS } from './widgets.ts';

export const VENDOR_RULES: readonly VendorRule[] = [
  ...CLOUDFLARE,
  ...BOT_MANAGERS,
  ...CONTENT_NETWORKS,
  ...FIREWALLS,
  ...SITES,
  ...CONSENT_PAGES,
  ...PARKING,
  ...DEFAULT_PAGES,
  // A site that has its own marks may use any of these.
  ...WIDGETS,
];
