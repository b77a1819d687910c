/** Recognizes blocked pages by their structure: forms, containers of walls, empty roots of applications. */
import { type BlockedKind, GENERIC } from './blocked.ts';
import { weigh } from './normalized.ts';
import type { BlockedPageFacts } from './page-facts.ts';
import { AGE } from './phrases/age.ts';
import { CONSENT } from './phrases/consent.ts';
import { LOGIN } from './phrases/login.ts';
import { PAYWALL } from './phrases/paywall.ts';
import { hasTopic, isSaidBy, leadsOf } from './phrases.ts';

export interface StructureRule {
  readonly kind: BlockedKind;
  /** Where the parts that the rule looks for are described. */
  readonly source: string;
  /** The vendor, `generic`, or `undefined` if the page is not of this kind. */
  readonly by: (facts: BlockedPageFacts) => string | undefined;
}

/** Vendors by their marks or the end of the title, the first one counts. */
type Vendors = readonly { readonly by: string; readonly mark?: RegExp; readonly title?: RegExp }[];

const vendorOf = ({ marks, title }: BlockedPageFacts, vendors: Vendors): string =>
  vendors.find((vendor) => vendor.mark?.test(marks) || vendor.title?.test(title))?.by ?? GENERIC;

const PAYWALL_VENDORS: Vendors = [
  { by: 'medium', mark: /meteredContent/, title: /\| medium$/ },
  { by: 'nyt', mark: /\[id\]=(?:gateway-content|dock-container)/, title: /the new york times$/ },
  { by: 'wsj', title: / - wsj$/ },
  { by: 'ft', title: /financial times$/ },
  { by: 'substack', mark: /substackcdn\.com|substack-paywall/ },
  { by: 'piano', mark: /\bpiano\.io|tinypass|tp-container-inner|piano-paywall/ },
  { by: 'poool', mark: /poool\.fr|poool-widget/ },
  { by: 'zephr', mark: /zephr/ },
];
const PAYWALL_MARK =
  /"?isAccessibleForFree"?\s*:\s*"?false|paywall|gateway-content|meteredContent|piano\.io|tinypass|tp-container-inner|poool|regwall|subscriber-only|premium-content|metered/i;

const CONSENT_VENDORS: Vendors = [
  { by: 'google', mark: /consent\.google\./ },
  { by: 'youtube', mark: /consent\.youtube\./ },
  { by: 'yahoo', mark: /consent\.yahoo\.|guce\./ },
  { by: 'onetrust', mark: /onetrust|otSDKStub/i },
  { by: 'sourcepoint', mark: /sp_message_container|privacy-mgmt\.com|sp-prod\.net/ },
  { by: 'didomi', mark: /didomi/ },
  { by: 'usercentrics', mark: /usercentrics/ },
  { by: 'cookiebot', mark: /cybotcookiebot|cookiebot/i },
  { by: 'quantcast', mark: /qc-cmp|quantcast/ },
  { by: 'google-funding-choices', mark: /fc-consent|fundingchoices/ },
  { by: 'consentmanager', mark: /cmpbox|consentmanager\.net/ },
  { by: 'trustarc', mark: /trustarc|truste/ },
];

const CONSENT_WORDS =
  /cookie|consent|privacy|partner|tracking|einwillig|zustimm|datenschutz|werbung|privée|confidentialité|traceurs|privacidad|consentimiento|privacidade|consenso|toestemming|zgod|prywatno|соглас|конфиденциальн|çerez|gizlilik|プライバシー|同意|隐私|隱私|쿠키|개인정보|ملفات تعريف|الخصوصية/;
const COOKIES = /\bcookies?\b|куки|çerez|クッキー|쿠키|ملفات تعريف/;
/** Share of the text of a consent wall that is about consent. */
const CONSENT_SHARE = 0.5;

function isAboutConsent({ body, headings }: BlockedPageFacts): boolean {
  if (headings.some((heading) => !CONSENT_WORDS.test(heading) && !CONSENT.says.test(heading))) return false;
  let about = 0;
  let all = 0;
  for (const sentence of body.split(/[.!?。！？]/)) {
    const letters = weigh(sentence);
    all += letters;
    if (CONSENT_WORDS.test(sentence) || CONSENT.says.test(sentence)) about += letters;
  }
  return about >= CONSENT_SHARE * all;
}

const AGE_CONTAINER =
  /\[(?:id|class)\]=[^\n]{0,100}age[-_]?(?:gate|verif|check|wall|confirm|restrict|screen)|over-?18\b/i;
const ASKS_FOR_SCRIPTS =
  /(?:enable|activat|turn on|requires?|need|without|allow|support|disabled|aktivier|einschalt|benötigt|active[rz]|désactiv|nécessite|habilit|activ[ae]|ative|abilit|attiva|inschakel|włącz|включ|etkin|有効|启用|啟用|开启|활성|사용|تفعيل|تمكين)[^.]{0,60}(?:javascript|java script|js\b)|(?:javascript|java script)[^.]{0,60}(?:enable|required|needed|disabled|turned off|aktivier|erforderlich|benötigt|activ|nécessaire|requis|habilit|necesari|necessári|richiesto|abilit|ingeschakeld|vereist|wymag|włącz|включ|отключ|gerek|etkin|有効|必要|启用|禁用|필요|활성|مطلوب|تفعيل)/;
const LOADING =
  /^(?:loading|please wait|initializing|wird geladen|laden|lädt|chargement|cargando|carregando|a carregar|caricamento|bezig met laden|ładowanie|загрузка|yükleniyor|読み込み中|加载中|載入中|로딩|جار)/;

/** Whether the title or the first heading is about a login; further headings may be those of a box beside content. */
const isLedByLogin = (facts: BlockedPageFacts): boolean =>
  leadsOf({ ...facts, headings: facts.headings.slice(0, 1) }).some((lead) => isSaidBy(lead, LOGIN));

/** Maximum letters of a request to turn scripts on. */
const NOSCRIPT_LETTERS = 1_000;

const LISTING = /^(?:index of|directory listing (?:for|of)) \//;

const HTML_FORMS = 'https://html.spec.whatwg.org/multipage/input.html#password-state-(type=password)';

export const STRUCTURE_RULES: readonly StructureRule[] = [
  {
    kind: 'server-default',
    source: 'https://httpd.apache.org/docs/current/mod/mod_autoindex.html',
    by: ({ title, headings, links, ownLetters }) =>
      // A listing of files is content; an empty one is not.
      LISTING.test(headings[0] ?? title) && links <= 2 && ownLetters <= 60 ? 'directory' : undefined,
  },
  {
    kind: 'consent',
    source: 'https://iabeurope.eu/transparency-consent-framework/',
    by(facts) {
      const { consentLetters, otherLetters, ownLetters, buttons, links, passwordFields } = facts;
      const isAlone = consentLetters >= 20 && otherLetters <= 60;
      const isWall = ownLetters <= 350 && links <= 10 && buttons.length > 0 && passwordFields === 0;
      const says = () => [facts.body, ...facts.headings].some((text) => CONSENT.says.test(text) || COOKIES.test(text));
      return isAlone || (isWall && says() && isAboutConsent(facts)) ? vendorOf(facts, CONSENT_VENDORS) : undefined;
    },
  },
  {
    kind: 'age',
    source: 'https://www.ofcom.org.uk/online-safety/protecting-children/age-assurance',
    by(facts) {
      const { marks, ownLetters, body, headings, buttons, textFields } = facts;
      if (ownLetters > 400) return undefined;
      const isAsked = AGE_CONTAINER.test(marks);
      // A page about something else may state an age too.
      if (!isAsked && hasTopic(facts)) return undefined;
      const says = [body, ...headings].some((text) => AGE.says.test(text));
      const asks = buttons.length > 0 || textFields > 0;
      return says && (isAsked || (asks && ownLetters <= 220)) ? GENERIC : undefined;
    },
  },
  {
    kind: 'login',
    source: HTML_FORMS,
    by(facts) {
      const { passwordFields, textFields, ownLetters, letters, links } = facts;
      if (passwordFields > 0 && letters <= 2_500 && ownLetters <= 700 && isLedByLogin(facts)) return GENERIC;
      if (passwordFields > 0 && ownLetters <= 60 && letters <= 600 && links <= 25) return GENERIC;
      if (textFields > 0 && textFields <= 3 && ownLetters <= 120 && letters <= 400 && isLedByLogin(facts))
        return GENERIC;
      return undefined;
    },
  },
  {
    kind: 'paywall',
    source: 'https://schema.org/isAccessibleForFree',
    by(facts) {
      const { body, headings, buttons, marks, ownLetters } = facts;
      const isMarked = PAYWALL_MARK.test(marks);
      if (ownLetters > (isMarked ? 900 : (PAYWALL.textLetters ?? 0))) return undefined;
      return [body, ...headings, ...buttons].some((text) => PAYWALL.says.test(text))
        ? vendorOf(facts, PAYWALL_VENDORS)
        : undefined;
    },
  },
  {
    kind: 'js-shell',
    source: 'https://developer.mozilla.org/en-US/docs/Glossary/SPA',
    by(facts) {
      const { letters, ownLetters, scripts, media, emptyRoot, noscript, body, headings } = facts;
      // Some applications send their content to clients without scripts.
      if (facts.textFields + facts.passwordFields > 0 || facts.noscriptLetters > NOSCRIPT_LETTERS) return undefined;
      const isLoading = LOADING.test(body) && letters <= 60;
      if (scripts > 0 && letters <= 60 && media <= 5 && (emptyRoot || isLoading)) return GENERIC;
      if (emptyRoot && ownLetters <= 10 && letters <= 1_500 && media <= 5) return GENERIC;
      if (scripts > 0 && letters <= 120 && media <= 5 && ASKS_FOR_SCRIPTS.test(noscript)) return GENERIC;
      if (scripts > 0 && letters <= 20 && media === 0) return GENERIC;
      return ownLetters <= 200 && [body, ...headings].some((text) => ASKS_FOR_SCRIPTS.test(text)) ? GENERIC : undefined;
    },
  },
];
