/** Challenges, refusals and errors of Cloudflare. */
import type { VendorRule } from './vendor-rule.ts';

const CLOUDFLARE_CHALLENGE =
  'https://developers.cloudflare.com/cloudflare-challenges/challenge-types/challenge-pages/detect-response/';
const CLOUDFLARE_ERRORS =
  'https://developers.cloudflare.com/support/troubleshooting/http-status-codes/cloudflare-1xxx-errors/';
const DATADOME = 'https://docs.datadome.co/docs/response-page';
const CLOUDFLARE_PAGE = /cf-error-details|cf-error-code|cf\.errors\.css|cf-wrapper|cdn-cgi\/styles\/cf/;
const cloudflareCode = (codes: string) => new RegExp(`(?:^|\\b)(?:error(?: code)?:? ?)?(?:${codes})\\b`);

export const CLOUDFLARE: readonly VendorRule[] = [
  { kind: 'challenge', by: 'cloudflare', source: CLOUDFLARE_CHALLENGE, header: { 'cf-mitigated': /^challenge/i } },
  { kind: 'geo', by: 'cloudflare', source: CLOUDFLARE_ERRORS, mark: CLOUDFLARE_PAGE, says: cloudflareCode('1009') },
  {
    kind: 'rate-limit',
    by: 'cloudflare',
    source: CLOUDFLARE_ERRORS,
    mark: CLOUDFLARE_PAGE,
    says: cloudflareCode('1015'),
  },
  {
    kind: 'denied',
    by: 'cloudflare',
    source: CLOUDFLARE_ERRORS,
    mark: CLOUDFLARE_PAGE,
    says: cloudflareCode('1005|1006|1007|1008|1010|1011|1012|1020|1106'),
  },
  {
    kind: 'server-error',
    by: 'cloudflare',
    source: 'https://developers.cloudflare.com/support/troubleshooting/http-status-codes/cloudflare-5xx-errors/',
    mark: CLOUDFLARE_PAGE,
    says: cloudflareCode('5[0-3]\\d|1000|1001|1002|1003|1004|1013|1014|1016|1018|1019|1023|1033|1034|1101|1102|1104'),
  },
  {
    kind: 'denied',
    by: 'cloudflare',
    source: CLOUDFLARE_ERRORS,
    mark: CLOUDFLARE_PAGE,
    says: /you have been blocked|used cloudflare to restrict access/,
  },
  {
    kind: 'challenge',
    by: 'cloudflare',
    source: CLOUDFLARE_CHALLENGE,
    mark: /_cf_chl_opt|_cf_chl_ctx|cdn-cgi\/challenge-platform\/\S{0,40}orchestrate|__cf_chl_(?:f_tk|jschl_tk|captcha_tk|rt_tk|tk)|jschl[_-](?:vc|answer)|cf-browser-verification|cf-im-under-attack|\[id\]=challenge-(?:form|running|stage|error-text)|cf_captcha_kind|cf-captcha-(?:info|container)/,
  },
  {
    kind: 'by phrases',
    otherwise: 'denied',
    by: 'cloudflare',
    source: CLOUDFLARE_ERRORS,
    title: /^attention required! \| cloudflare|cloudflare to restrict access/,
  },
  {
    kind: 'by phrases',
    otherwise: 'denied',
    by: 'cloudflare',
    source: CLOUDFLARE_ERRORS,
    mark: CLOUDFLARE_PAGE,
    status: /^(?:403|429|5\d\d)$/,
  },

  {
    kind: 'denied',
    by: 'datadome',
    source: DATADOME,
    mark: /interstitial\.captcha-delivery\.com/,
    says: /access (?:is|has been)[^.]{0,20}(?:restricted|blocked)|access blocked/,
  },
];
