/** Recognizes blocked pages by their structure: forms, containers of walls, empty roots of applications. */
import { withoutQuotations } from './about.ts';
import { isAddressed } from './addressed.ts';
import { type BlockedKind, GENERIC } from './blocked.ts';
import type { BlockedPageFacts } from './page-facts.ts';
import { AGE } from './phrases/age.ts';
import { CHALLENGE } from './phrases/challenge.ts';
import { CONSENT } from './phrases/consent.ts';
import { LOGIN } from './phrases/login.ts';
import { PAYWALL } from './phrases/paywall.ts';
import type { PhraseRule } from './phrases/phrase-rule.ts';
import { hasTopic, isSaidBy, leadsOf, sentencesOf } from './phrases.ts';

export interface StructureRule {
  readonly kind: BlockedKind;
  /** Where the parts that the rule looks for are described. */
  readonly source: string;
  /** The vendor, `generic`, or `undefined` if the page is not of this kind. */
  readonly by: (facts: BlockedPageFacts) => string | undefined;
  /** Whether the parts alone are enough, whatever the page says. */
  readonly isOfParts?: boolean;
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

/** Offers a login to those who have paid: sites have it beside their content too. */
const SUBSCRIBED =
  /\balready (?:a|an) (?:[a-z]+ )?(?:subscriber|member)|bereits abonnent|déjà abonné|ya eres suscriptor|já é assinante|già abbonato|al abonnee|redan prenumerant/;

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
  /cookie|consent|privacy|partner|tracking|einwillig|zustimm|datenschutz|werbung|privée|confidentialité|traceurs|privacidad|consentimiento|privacidade|consenso|toestemming|zgod|prywatno|соглас|конфиденциальн|çerez|gizlilik|プライバシー|同意|隐私|隱私|쿠키|개인정보|ملفات تعريف|الخصوصية|souhlas|súhlas|soukrom|súkrom|hozzájárul|adatvéd|magánszfér|consimțăm|confidențialit|приватн|згод|поверителн|съглас|privatnost|pristan|zasebnost|sutikim|privatum|privātum|piekrišan|nõusolek|privaatsus|consentiment|privadesa|privasi|persetujuan|riêng tư|ความเป็นส่วนตัว|ยินยอม|פרטיות|הסכמה|गोपनीयता|सहमति|απόρρητο|συγκατάθεσ|حریم خصوصی|samtyck|samtykke|suostumu|yksityisyy|evästei|integritet|personvern|privatliv/;
const COOKIES =
  /slapuk|sīkdat|küpsis|piškotk|kolačić|колачић|бисквит|evästei|\bkakor\b|informasjonskapsl|\bsüti|คุกกี้|कुकी|کوکی|galetes|\bcookies?\b|куки|çerez|クッキー|쿠키|ملفات تعريف/;
/** Share of the text of a consent wall that is about consent; more if it has headings about something else. */
const CONSENT_SHARE = 0.5;
const CONSENT_SHARE_WITH_TOPIC = 0.8;
/** Headings of the two choices of such walls: with advertising, or with a subscription. */
const CHOICES =
  /\b(?:pur|abo|abonnement|werbung|werbefrei|kostenlos|subscri|advert|ads|ad-free|free|choice|choix|publicité|pub|scelta|pubblicità|elección|publicidad|escolha|keuze|advertenties|wybór|reklam|předplat|predplat|előfizet|abonament|prenumer|tilaa|mainokse|подпис|передплат|реклам|abonelik|langganan|iklan|συνδρομ|διαφημίσ|מנוי|privacy|welcome|willkommen|bienvenue)/;
/** Buttons that accept. */
const ACCEPTS =
  /accept|agree|allow|consent|got it|akzept|zustimm|einverstanden|erlauben|akkoord|toestaan|acept|permit|aceit|accett|acconsent|zgadzam|akcept|zgoda|соглас|прин(?:ять|имаю)|разреш|kabul|onayl|godkänn|tillåt|accepter|godta|tillad|hyväksy|salli|souhlas|přij|povolit|elfogad|hozzájárul|погод|прийня|setuju|terima|đồng ý|chấp nhận|ยอมรับ|同意|接受|許可|동의|수락|허용|قبول|موافق|أوافق|אישור|מסכים|स्वीकार|αποδοχή|συμφων/;

const isLetterHead = (heading: string): boolean => heading.endsWith(',');

function isAboutConsent({ body, headings, title }: BlockedPageFacts): boolean {
  let about = 0;
  let all = 0;
  for (const { text, letters } of sentencesOf(body)) {
    all += letters;
    if (CONSENT_WORDS.test(text) || CONSENT.says.test(text) || CHOICES.test(text)) about += letters;
  }
  const isTopic = (heading: string) =>
    !isLetterHead(heading) &&
    !CONSENT_WORDS.test(heading) &&
    !CONSENT.says.test(heading) &&
    !CHOICES.test(heading) &&
    !title.startsWith(heading);
  return about >= (headings.some(isTopic) ? CONSENT_SHARE_WITH_TOPIC : CONSENT_SHARE) * all;
}

/** Says how to consent, which a text about privacy does not. */
const BY_CLICKING =
  /\bby (?:clicking|pressing|tapping|continuing|entering)\b|mit (?:einem |dem )?klick|(?:indem|wenn) sie[^.]{0,40}klicken|durch (?:das )?(?:an)?klicken|en (?:cliquant|poursuivant|continuant)|al (?:hacer clic|pulsar|continuar)|haciendo clic|ao (?:clicar|continuar)|clicando|cliccando|(?:door|als u|als je)[^.]{0,30}(?:klikken|klikt)|klikając|kliknięci|нажимая|нажав|натискаючи|tıklayarak|genom att klicka|ved at klikke|ved å klikke|klikkaamalla|kliknutím|kattintás|făcând clic|クリックする(?:こと|と)|点击[^。]{0,20}(?:即|表示)|點擊[^。]{0,20}(?:即|表示)|클릭하(?:면|시면)|بالنقر/;

/** Whether a sentence of the text says it. */
const isSaidIn = (text: string, { says }: PhraseRule): boolean =>
  sentencesOf(withoutQuotations(text)).some((sentence) => says.test(sentence.text));

/** Share of an age gate that is about age. */
const AGE_SHARE = 0.4;
const AGE_CONTAINER =
  /\[(?:id|class)\]=[^\n]{0,100}age[-_]?(?:gate|verif|check|wall|confirm|restrict|screen)|over-?18\b/i;
const ASKS_FOR_SCRIPTS =
  /(?:enable|activat|turn on|requires?|need|without|allow|support|disabled|aktivier|einschalt|benötigt|active[rz]|désactiv|nécessite|habilit|activ[ae]|ative|abilit|attiva|inschakel|kræver|krever|kräver|slå|aktivér|vaatii|salli|vyžaduje|povolte|igényel|włącz|включ|etkin|有効|启用|啟用|开启|활성|사용|تفعيل|تمكين)[^.]{0,60}(?:javascript|java script|js\b)|(?:javascript|java script)[^.]{0,60}(?:enable|required|needed|disabled|turned off|aktivier|erforderlich|benötigt|activ|nécessaire|requis|habilit|necesari|necessári|richiesto|abilit|ingeschakeld|vereist|wymag|włącz|включ|отключ|gerek|etkin|有効|必要|启用|禁用|필요|활성|مطلوب|تفعيل)/;
const LOADING =
  /^(?:loading|please wait|initializing|wird geladen|laden|lädt|chargement|cargando|carregando|a carregar|caricamento|bezig met laden|ładowanie|загрузка|yükleniyor|読み込み中|加载中|載入中|로딩|جار)/;

/** Share of the text in sentences that ask for scripts. */
const SCRIPTS_SHARE = 0.5;

function asksForScripts(body: string, headings: readonly string[]): boolean {
  if (headings.some((heading) => ASKS_FOR_SCRIPTS.test(heading))) return true;
  const sentences = sentencesOf(body);
  const lettersOf = (some: typeof sentences) => some.reduce((sum, { letters }) => sum + letters, 0);
  const asking = lettersOf(sentences.filter(({ text }) => ASKS_FOR_SCRIPTS.test(text)));
  return asking > 0 && asking >= SCRIPTS_SHARE * lettersOf(sentences);
}

/** Whether the title or the first heading is about a login; further headings may be those of a box beside content. */
const isLedByLogin = (facts: BlockedPageFacts): boolean =>
  leadsOf({ ...facts, headings: facts.headings.slice(0, 1) }).some((lead) => isSaidBy(lead, LOGIN));

/** Whether the text begins with a request to log in, as above the form of a forum. */
const beginsWithLogin = ({ body }: BlockedPageFacts): boolean => {
  const [first, second] = sentencesOf(withoutQuotations(body));
  return [first, second].some((sentence) => sentence !== undefined && LOGIN.says.test(sentence.text));
};

/** With more letters after its first fields, a page is content beside a login. */
const BOX_LETTERS = 200;

/** Maximum letters of a request to turn scripts on. */
const NOSCRIPT_LETTERS = 1_000;

const LISTING = /^(?:index of|directory listing (?:for|of)) \//;

const HTML_FORMS = 'https://html.spec.whatwg.org/multipage/input.html#password-state-(type=password)';

export const STRUCTURE_RULES: readonly StructureRule[] = [
  {
    kind: 'server-default',
    isOfParts: true,
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
      const accepts = buttons.some((button) => ACCEPTS.test(button));
      // A letter to the reader that ends with a link.
      const isLetter = ownLetters <= 1_500 && links <= 10 && passwordFields === 0 && BY_CLICKING.test(facts.body);
      const isWall = ownLetters <= (accepts ? 700 : 350) && links <= 10 && buttons.length > 0 && passwordFields === 0;
      const says = () => [facts.body, ...facts.headings].some((text) => CONSENT.says.test(text) || COOKIES.test(text));
      return isAlone || ((isWall || isLetter) && says() && isAboutConsent(facts))
        ? vendorOf(facts, CONSENT_VENDORS)
        : undefined;
    },
  },
  {
    kind: 'challenge',
    source: 'https://www.w3.org/TR/turingtest/',
    by(facts) {
      const { textFields, passwordFields, buttons, ownLetters, body } = facts;
      // A form for something else has more fields, and a topic.
      const isQuestion = textFields === 1 && passwordFields === 0 && buttons.length > 0 && ownLetters <= 500;
      return isQuestion && !hasTopic(facts) && isSaidIn(body, CHALLENGE) ? GENERIC : undefined;
    },
  },
  {
    kind: 'age',
    source: 'https://www.ofcom.org.uk/online-safety/protecting-children/age-assurance',
    by(facts) {
      const { marks, ownLetters, body, headings, buttons, textFields, links } = facts;
      if (ownLetters > 400) return undefined;
      const isAsked = AGE_CONTAINER.test(marks);
      // A page about something else may state an age too.
      const isQuestion = headings[0]?.endsWith('?') && AGE.says.test(headings[0]);
      if (!isAsked && !isQuestion && hasTopic(facts)) return undefined;
      const says = [body, ...headings].some((text) => isSaidIn(text, AGE));
      const asks = buttons.length > 0 || textFields > 0;
      const sentences = sentencesOf(withoutQuotations(body));
      const said = sentences.reduce((sum, { text, letters }) => sum + (AGE.says.test(text) ? letters : 0), 0);
      const isMost = facts.topics.length <= 3 && (isQuestion || said >= AGE_SHARE * ownLetters);
      const isShort = isMost
        ? asks || links <= 12
        : asks
          ? ownLetters <= 220
          : links > 0 && links <= 6 && ownLetters <= 120;
      return says && (isAsked || (isShort && isAddressed(`${headings.join(' ')} ${body}`))) ? GENERIC : undefined;
    },
  },
  {
    kind: 'login',
    source: HTML_FORMS,
    by(facts) {
      const { passwordFields, textFields, ownLetters, letters, links } = facts;
      const { headingAfterLogin } = facts;
      if (headingAfterLogin && ownLetters > BOX_LETTERS && !isSaidBy(headingAfterLogin, LOGIN)) return undefined;
      if (passwordFields > 0 && letters <= 2_500 && ownLetters <= 700 && isLedByLogin(facts)) return GENERIC;
      if (passwordFields > 0 && ownLetters <= 700 && links <= 40 && beginsWithLogin(facts)) return GENERIC;
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
      const { title, body, headings, buttons, marks, ownLetters } = facts;
      const isMarked = PAYWALL_MARK.test(marks);
      const isTitle = leadsOf({ ...facts, headings: [] }).some((lead) => isSaidBy(lead, PAYWALL));
      if (ownLetters > (isMarked || isTitle ? 900 : (PAYWALL.textLetters ?? 0))) return undefined;
      const says = [title, body, ...headings, ...buttons].some(
        (text) => isSaidIn(text, PAYWALL) || (isMarked && SUBSCRIBED.test(text)),
      );
      return says ? vendorOf(facts, PAYWALL_VENDORS) : undefined;
    },
  },
  {
    kind: 'js-shell',
    isOfParts: true,
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
      return ownLetters <= 200 && asksForScripts(body, headings) ? GENERIC : undefined;
    },
  },
];
