/** Services that show pages on parked, expired or offered domains. */
import type { VendorRule } from './vendor-rule.ts';

const SEDO = 'https://sedo.com/us/park-domains/';

export const PARKING: readonly VendorRule[] = [
  {
    kind: 'parked',
    by: 'parkingcrew',
    source: 'https://www.bodis.com/',
    mark: /data-adblockkey[\s\S]{0,4000}window\.park\s*=|window\.park\s*=/,
    ownLetters: 400,
  },
  {
    kind: 'parked',
    by: 'parkingcrew',
    source: 'https://www.parkingcrew.com/',
    mark: /parkingcrew\.net|parklogic\.com/,
    ownLetters: 400,
  },
  {
    kind: 'parked',
    by: 'bodis',
    source: 'https://www.bodis.com/',
    mark: /\bbodis(?:cdn)?\.com|data-adblockkey/,
    ownLetters: 200,
  },
  {
    kind: 'parked',
    by: 'sedo',
    source: SEDO,
    mark: /sedoparking\.com|img\.sedoparking|sedo\.com\/search\/details/,
    ownLetters: 400,
  },
  {
    kind: 'parked',
    by: 'godaddy',
    source: 'https://www.godaddy.com/help/park-my-domain-19134',
    mark: /parking-lander|location\.(?:href|replace\()? ?=? ?\(?["']\/lander["']/,
    ownLetters: 200,
  },
  {
    kind: 'parked',
    by: 'godaddy',
    source: 'https://www.godaddy.com/help/park-my-domain-19134',
    says: /parked free,? courtesy of godaddy/,
    ownLetters: 500,
  },
  {
    kind: 'parked',
    by: 'hugedomains',
    source: 'https://www.hugedomains.com/',
    title: /hugedomains/,
    says: /for sale|buy now|domain/,
    ownLetters: 1500,
  },
  {
    kind: 'parked',
    by: 'dan',
    source: 'https://www.godaddy.com/',
    mark: /cdn\d*\.dan\.com|\bdan\.com\/buy-domain/,
    ownLetters: 700,
  },
  {
    kind: 'parked',
    by: 'afternic',
    source: 'https://www.afternic.com/',
    mark: /afternic\.com\/forsale/,
    ownLetters: 700,
  },
  {
    kind: 'parked',
    by: 'namecheap',
    source: 'https://www.namecheap.com/support/knowledgebase/',
    mark: /parkingpage\.namecheap\.com|namecheap\.com\/assets\/img\/nc-icon/,
    ownLetters: 500,
  },
  {
    kind: 'parked',
    by: 'above',
    source: 'https://www.above.com/',
    mark: /\babove\.com\/marketplace|trafficz?\.above\.com/,
    ownLetters: 500,
  },
  {
    kind: 'parked',
    by: 'reg.ru',
    source: 'https://www.reg.ru/',
    mark: /\[content\]=regru-|parking-rdap-auto/,
    ownLetters: 700,
  },
  {
    kind: 'parked',
    by: 'registrar',
    source: 'https://www.icann.org/resources/pages/faqs-84-2012-02-25-en',
    title: /^(?:domain|website|this domain)[^.]{0,30}expired/,
    ownLetters: 500,
  },
];
