/** Products that tell programs from people. */
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
    mark: /sec-if-cpt-container|sec-cpt-if|sec-bc-tile-container|\[id\]=sec-(?:overlay|text-container)|\/_sec\/(?:cp_challenge|verify)/,
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

  {
    kind: 'challenge',
    by: 'radware',
    source: 'https://www.radware.com/products/bot-manager/',
    mark: /https?:\/\/(?:validate|captcha)\.perfdrive\.com|captcha\.perfdrive\.com/,
    ownLetters: 900,
  },
  {
    kind: 'challenge',
    by: 'radware',
    source: 'https://www.radware.com/products/bot-manager/',
    title: /^radware (?:bot manager )?(?:captcha|block|page)/,
    ownLetters: 900,
  },
  {
    kind: 'challenge',
    by: 'netacea',
    source: 'https://docs.netacea.com/',
    mark: /\bmitata(?:captcha)?\b|netacea/i,
    ownLetters: 200,
  },
  {
    kind: 'challenge',
    by: 'alibaba',
    source: 'https://www.alibabacloud.com/help/en/waf/',
    mark: /\bacw_sc__v\d\b|aliyun_waf|\baliyunwaf|AliyunCaptcha(?:Config)?|_waf_bd8ce2ce37|\bvar arg1 ?= ?["'][0-9A-F]{20}/,
    ownLetters: 200,
  },
  {
    kind: 'denied',
    by: 'alibaba',
    source: 'https://www.alibabacloud.com/help/en/waf/',
    mark: /errors\.aliyun\.com/,
    ownLetters: 700,
  },
  {
    kind: 'challenge',
    by: 'tencent',
    source: 'https://www.tencentcloud.com/document/product/1145',
    mark: /__tst_status|EO_Bot_Ssid|turing\.captcha\.(?:qcloud|gtimg)\.com|\bTCaptcha(?:-global)?\.js|ssl\.captcha\.qq\.com/,
    isWithoutFields: true,
    ownLetters: 120,
  },
  {
    kind: 'challenge',
    by: 'jiasule',
    source: WAFW00F,
    cookie: /^__jsluid_[hs]$/,
    status: /^521$/,
    ownLetters: 200,
  },
  {
    kind: 'challenge',
    by: 'yunsuo',
    source: WAFW00F,
    mark: /\b(?:yunsuo|security)_session_(?:verify|mid_verify)\b/,
    ownLetters: 100,
  },
  {
    kind: 'challenge',
    by: 'riversecurity',
    source: 'https://www.riversecurity.com/',
    mark: /\$_ts ?= ?window\[/,
    ownLetters: 60,
  },
  {
    kind: 'challenge',
    by: 'bytedance',
    source: 'https://www.byteplus.com/',
    mark: /_wafchallengeid|\bbyted_acrawler\b|\/verifycenter\/captcha/,
    ownLetters: 80,
  },
];
