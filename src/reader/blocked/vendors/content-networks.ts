/** Pages of content networks and hosts: Akamai, Amazon, Vercel, Fastly, Netlify. */
import type { VendorRule } from './vendor-rule.ts';

const IS_ANTIBOT = 'https://github.com/microlinkhq/is-antibot';
const WAFW00F = 'https://github.com/EnableSecurity/wafw00f/tree/master/wafw00f/plugins';
const AWS_WAF = 'https://docs.aws.amazon.com/waf/latest/developerguide/waf-captcha-and-challenge-how-it-works.html';
const VERCEL = 'https://vercel.com/docs/vercel-firewall/attack-challenge-mode';
const ANUBIS = 'https://github.com/TecharoHQ/anubis';
const SUCURI = 'https://docs.sucuri.net/website-firewall/troubleshooting/';

export const CONTENT_NETWORKS: readonly VendorRule[] = [
  {
    kind: 'challenge',
    by: 'akamai',
    source: IS_ANTIBOT,
    mark: /\bbmak\b|\/akam\/\d+\//,
    cookie: /^(?:bm_sz|_abck|ak_bmsc)$/,
    ownLetters: 60,
  },
  {
    kind: 'denied',
    by: 'akamai',
    source: WAFW00F,
    title: /^access denied/,
    says: /reference #18\.[0-9a-f.]{6,}/,
    ownLetters: 700,
  },
  {
    kind: 'server-error',
    by: 'akamai',
    source: WAFW00F,
    says: /reference #(?!18\.)\d{1,3}\.[0-9a-f.]{6,}/,
    ownLetters: 400,
  },
  {
    kind: 'by phrases',
    otherwise: 'denied',
    by: 'akamai',
    source: WAFW00F,
    header: { server: /^AkamaiGHost/i },
    status: /^(?:403|429)$/,
    ownLetters: 700,
  },
  {
    kind: 'by phrases',
    otherwise: 'server-error',
    by: 'akamai',
    source: WAFW00F,
    header: { server: /^AkamaiGHost/i },
    status: /^5\d\d$/,
    ownLetters: 700,
  },

  {
    kind: 'denied',
    by: 'f5',
    source: WAFW00F,
    says: /the requested url was rejected\. please consult with your administrator/,
    ownLetters: 400,
  },
  {
    kind: 'challenge',
    by: 'aws-waf',
    source: AWS_WAF,
    mark: /(?:token|captcha-sdk|sdk)\.awswaf\.com|AwsWafIntegration|AwsWafCaptcha|gokuProps/,
    ownLetters: 200,
  },
  {
    kind: 'geo',
    by: 'cloudfront',
    source: 'https://docs.aws.amazon.com/AmazonCloudFront/latest/DeveloperGuide/georestrictions.html',
    says: /cloudfront distribution is configured to block access from your country/,
    ownLetters: 700,
  },
  {
    kind: 'denied',
    by: 'aws-waf',
    source: 'https://docs.aws.amazon.com/AmazonCloudFront/latest/DeveloperGuide/http-403-permission-denied.html',
    says: /the request could not be satisfied[\s\S]{0,200}request blocked/,
    ownLetters: 700,
  },
  {
    kind: 'by phrases',
    otherwise: 'server-error',
    by: 'cloudfront',
    source: 'https://docs.aws.amazon.com/AmazonCloudFront/latest/DeveloperGuide/troubleshooting-response-errors.html',
    says: /the request could not be satisfied[\s\S]{0,600}cloudfront/,
    ownLetters: 700,
  },

  { kind: 'denied', by: 'sucuri', source: SUCURI, mark: /sucuri-firewall-block\.css/ },
  { kind: 'challenge', by: 'vercel', source: VERCEL, header: { 'x-vercel-mitigated': /^challenge/i } },
  { kind: 'challenge', by: 'vercel', source: VERCEL, mark: /\.well-known\/vercel\/security\//, ownLetters: 400 },

  { kind: 'challenge', by: 'fastly', source: IS_ANTIBOT, mark: /\/_fs-ch-[\w-]+\//, ownLetters: 400 },
  { kind: 'challenge', by: 'fastly', source: IS_ANTIBOT, cookie: /^_fs_ch_st_/, ownLetters: 200 },
  {
    kind: 'denied',
    by: 'fastly',
    source: 'https://www.fastly.com/documentation/guides/next-gen-waf/',
    status: /^406$/,
    header: { 'x-served-by': /cache-/ },
    ownLetters: 400,
  },
  {
    kind: 'server-error',
    by: 'fastly',
    source: 'https://www.fastly.com/documentation/guides/full-site-delivery/',
    says: /^fastly error: unknown domain|fastly error:/,
    ownLetters: 400,
  },

  {
    kind: 'challenge',
    by: 'anubis',
    source: ANUBIS,
    mark: /script\[id\]=anubis_(?:challenge|version)/,
    ownLetters: 900,
  },
  {
    kind: 'denied',
    by: 'netlify',
    source: 'https://docs.netlify.com/security/secure-access-to-sites/traffic-rules/',
    header: { server: /^netlify/i },
    status: /^403$/,
    ownLetters: 500,
  },
  {
    kind: 'not-found',
    by: 'netlify',
    source: 'https://docs.netlify.com/routing/redirects/redirect-options/#custom-404-page-handling',
    header: { server: /^netlify/i },
    status: /^404$/,
    ownLetters: 500,
  },
];
