/** Products that tell programs from people: DataDome, HUMAN (PerimeterX), Imperva, Kasada, F5. */
import type { VendorRule } from './vendor-rule.ts';

const IS_ANTIBOT = 'https://github.com/microlinkhq/is-antibot';
const WAFW00F = 'https://github.com/EnableSecurity/wafw00f/tree/master/wafw00f/plugins';
const AWS_WAF = 'https://docs.aws.amazon.com/waf/latest/developerguide/waf-captcha-and-challenge-how-it-works.html';
const DATADOME = 'https://docs.datadome.co/docs/response-page';

export const BOT_MANAGERS: readonly VendorRule[] = [
  {
    kind: 'challenge',
    by: 'datadome',
    source: DATADOME,
    mark: /(?:geo|ct|interstitial)\.captcha-delivery\.com/,
    ownLetters: 700,
  },
  {
    kind: 'by phrases',
    otherwise: 'challenge',
    by: 'datadome',
    source: DATADOME,
    header: { 'x-dd-b': /./ },
    ownLetters: 700,
  },

  {
    kind: 'denied',
    by: 'perimeterx',
    source: IS_ANTIBOT,
    says: /access to this page has been (?:denied|blocked)[\s\S]{0,400}(?:perimeterx|human security|px)/,
  },
  {
    kind: 'challenge',
    by: 'perimeterx',
    source: IS_ANTIBOT,
    mark: /\[id\]=px-captcha|captcha\.px-cdn\.net|\/captcha\/captcha\.js\?a=c/,
    ownLetters: 700,
  },
  {
    kind: 'challenge',
    by: 'bloomberg',
    source: IS_ANTIBOT,
    title: /^(?:bloomberg - )?are you a robot\?/,
    mark: /_pxAppId/,
    says: /bloomberg/,
    ownLetters: 700,
  },
  {
    kind: 'by phrases',
    otherwise: 'challenge',
    by: 'perimeterx',
    source: IS_ANTIBOT,
    mark: /_pxAppId|client\.perimeterx\.net|px-cloud\.net/,
    title: /robot|human|access (?:to this page )?(?:has been )?(?:denied|blocked)|verif|captcha|security/,
    ownLetters: 700,
  },
  {
    kind: 'by phrases',
    otherwise: 'denied',
    by: 'perimeterx',
    source: IS_ANTIBOT,
    header: { 'x-px-authorization': /./ },
    status: /^(?:403|429)$/,
  },

  {
    kind: 'denied',
    by: 'imperva',
    source: WAFW00F,
    says: /error code:? 1[56]\b[\s\S]{0,200}(?:imperva|incapsula|incident id)|this request was blocked by (?:our|the) security (?:service|rules)/,
  },
  {
    kind: 'challenge',
    by: 'imperva',
    source: WAFW00F,
    mark: /iframe\[src\]=[^\n]{0,60}_Incapsula_Resource|_Incapsula_Resource\?(?:CWUDNSAI|SWHANEDL|SWKMTFSR|SWUDNSAI)|distil_r_captcha|distil_identify|pardon our interruption/i,
    ownLetters: 1200,
  },
  { kind: 'challenge', by: 'imperva', source: WAFW00F, title: /^pardon our interruption/, ownLetters: 1200 },
  { kind: 'challenge', by: 'imperva', source: WAFW00F, mark: /_Incapsula_Resource/, ownLetters: 20 },
  {
    kind: 'by phrases',
    otherwise: 'denied',
    by: 'imperva',
    source: WAFW00F,
    says: /incapsula incident id|powered by (?:imperva|incapsula)/,
    ownLetters: 350,
  },

  {
    kind: 'challenge',
    by: 'kasada',
    source: IS_ANTIBOT,
    mark: /KPSDK\b|[?&]x-kpsdk-|149e9513-01fa-4fb0-aad4-566afd725d1b/,
    ownLetters: 200,
  },
  { kind: 'challenge', by: 'kasada', source: IS_ANTIBOT, header: { 'x-kasada-challenge': /./ }, ownLetters: 700 },
  {
    kind: 'challenge',
    by: 'kasada',
    source: IS_ANTIBOT,
    header: { 'x-kpsdk-ct': /./ },
    status: /^(?:403|429)$/,
    ownLetters: 700,
  },

  {
    kind: 'challenge',
    by: 'akamai',
    source: IS_ANTIBOT,
    mark: /sec-if-cpt-container|sec-cpt-if|\/_sec\/(?:cp_challenge|verify)/,
    ownLetters: 700,
  },
  { kind: 'denied', by: 'f5', source: WAFW00F, title: /^request rejected$/, says: /support id/, ownLetters: 400 },
  {
    kind: 'challenge',
    by: 'f5',
    source: IS_ANTIBOT,
    mark: /\bbobcmn\b|\/TSPD\/|_imp_apg_dip_|_imp_apg_cid_/,
    ownLetters: 200,
  },

  { kind: 'challenge', by: 'aws-waf', source: AWS_WAF, header: { 'x-amzn-waf-action': /^(?:challenge|captcha)/i } },
];
