/** Captchas that sites put into their own pages: a page with little else is a challenge. */
import type { VendorRule } from './vendor-rule.ts';

export const WIDGETS: readonly VendorRule[] = [
  {
    kind: 'challenge',
    by: 'cloudflare',
    source: 'https://developers.cloudflare.com/turnstile/get-started/',
    mark: /\[class\]=[^\n]{0,100}cf-turnstile|challenges\.cloudflare\.com\/turnstile/,
    isWithoutFields: true,
    ownLetters: 200,
  },
  {
    kind: 'challenge',
    by: 'hcaptcha',
    source: 'https://docs.hcaptcha.com/',
    mark: /\[class\]=[^\n]{0,100}h-captcha/,
    isWithoutFields: true,
    ownLetters: 200,
  },
  {
    kind: 'challenge',
    by: 'recaptcha',
    source: 'https://developers.google.com/recaptcha/docs/display',
    mark: /\[class\]=[^\n]{0,100}g-recaptcha/,
    isWithoutFields: true,
    ownLetters: 200,
  },
  {
    kind: 'challenge',
    by: 'geetest',
    source: 'https://docs.geetest.com/captcha/overview/start',
    mark: /\[class\]=[^\n]{0,100}geetest_|\/gt4?\.js|(?:static|gcaptcha4)\.geetest\.com|initGeetest4?/,
    ownLetters: 80,
  },
  {
    kind: 'challenge',
    by: 'arkose',
    source: 'https://developer.arkoselabs.com/docs/get-started',
    mark: /(?:client-api|api)\.arkoselabs\.com|funcaptcha\.com/,
    ownLetters: 120,
  },
  {
    kind: 'challenge',
    by: 'friendly-captcha',
    source: 'https://developer.friendlycaptcha.com/docs/v2/getting-started/setup/',
    mark: /\[class\]=[^\n]{0,100}frc-captcha/,
    ownLetters: 120,
  },
  {
    kind: 'challenge',
    by: 'yandex-smartcaptcha',
    source: 'https://yandex.cloud/en/docs/smartcaptcha/',
    mark: /smartcaptcha\.yandexcloud\.net|captcha-api\.yandex|\[class\]=[^\n]{0,100}smart-captcha/,
    isWithoutFields: true,
    ownLetters: 200,
  },
  {
    kind: 'challenge',
    by: 'mcaptcha',
    source: 'https://mcaptcha.org/docs/webmasters/add-captcha-to-website/',
    mark: /\[(?:id|class)\]=[^\n]{0,100}mcaptcha__/,
    isWithoutFields: true,
    ownLetters: 120,
  },
  {
    kind: 'challenge',
    by: 'altcha',
    source: 'https://altcha.org/docs/v2/widget-integration/',
    mark: /\/altcha(?:\.min)?\.js/,
    isWithoutFields: true,
    ownLetters: 120,
  },
];
