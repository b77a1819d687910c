/** Recognizes blocked pages by what they say: in a complete title or heading, or in a text that is short. */
import { hasSections, isExplanation, isReference, quotationsIn, withoutQuotations } from './about.ts';
import { isAddressed } from './addressed.ts';
import type { BlockedKind } from './blocked.ts';
import { weigh } from './normalized.ts';
import type { BlockedPageFacts } from './page-facts.ts';
import { AGE } from './phrases/age.ts';
import { CHALLENGE } from './phrases/challenge.ts';
import { COURT } from './phrases/court.ts';
import { DENIED } from './phrases/denied.ts';
import { GEO } from './phrases/geo.ts';
import { LOGIN } from './phrases/login.ts';
import { MAINTENANCE } from './phrases/maintenance.ts';
import { NOT_FOUND } from './phrases/not-found.ts';
import { PARKED } from './phrases/parked.ts';
import type { PhraseRule } from './phrases/phrase-rule.ts';
import { RATE_LIMIT } from './phrases/rate-limit.ts';
import { SERVER_DEFAULT } from './phrases/server-default.ts';
import { SERVER_ERROR } from './phrases/server-error.ts';

/** Of two rules that match equally well, the earlier one counts: it is the more special one. */
export const PHRASE_RULES: readonly PhraseRule[] = [
  GEO,
  COURT,
  RATE_LIMIT,
  PARKED,
  SERVER_DEFAULT,
  AGE,
  CHALLENGE,
  NOT_FOUND,
  MAINTENANCE,
  SERVER_ERROR,
  DENIED,
  LOGIN,
];

/** Sites separate their name from the title of the page with these. */
const SEPARATORS = / [|\-\u2013\u2014\u00b7\u2022\u00bb\u203a/] | :: | \u203a |\u00bb|\u203a|\|/;
/** Share of a title or heading that a sentence must cover. */
const COVERED = 0.5;
const TITLE_LETTERS = 400;
const TEXT_LETTERS = 220;
/** Maximum letters if the title and the text say the same. */
const BOTH_LETTERS = 900;
/** Maximum letters if the status is an error too. */
const ERROR_LETTERS = 1_500;

/** The parts of the title, and the headings, without what they quote. */
export const leadsOf = ({ title, headings }: BlockedPageFacts): string[] => {
  const said = withoutQuotations(title);
  const parts = [...said.split(SEPARATORS), said, ...headings.map(withoutQuotations).flatMap(sentencesIn)];
  return [...new Set(parts.map((part) => part.trim()))].filter(Boolean);
};

/** A heading and its sentences. */
const sentencesIn = (heading: string): string[] => [heading, ...heading.split(SENTENCE_END)];

/** Whether a title or heading says it as a whole. */
export const isSaidBy = (lead: string, { says, names }: PhraseRule): boolean => {
  if (names?.test(lead)) return true;
  return isCovered(lead, says) || (OPENING.test(lead) && isCovered(lead.replace(OPENING, ''), says));
};

/** "Sorry, " before what a heading says, and ":(" after it. */
const OPENING =
  /^[¡¿]?(?:we're |we are )?(?:so )?(?:sorry|oops|oh no|whoops|unfortunately|leider|schade|hoppla|ups|désolé|navré|oups|malheureusement|lo sentimos|lo siento|vaya|uy|desculpe|lamentamos|infelizmente|ops|spiacenti|ci dispiace|purtroppo|helaas|sorry|oeps|przepraszamy|niestety|извините|к сожалению|упс|вибачте|на жаль|üzgünüz|maalesef|申し訳ございません|申し訳ありません|抱歉|对不起|對不起|죄송합니다|عذرا|عذرًا|نأسف|tyvärr|desværre|dessverre|beklager|valitettavasti|pahoittelemme|omlouváme se|bohužel|ľutujeme|bohužiaľ|sajnáljuk|sajnos|ne pare rău|din păcate|съжаляваме|žao nam je|nažalost|žal|deja|diemžēl|kahjuks|ho sentim|maaf|mohon maaf|rất tiếc|xin lỗi|ขออภัย|מצטערים|क्षमा करें|λυπούμαστε|δυστυχώς|متاسفانه|متأسفیم)[,!.:…،、 -]{1,3}|[ :;()=-]{1,6}$/;

function isCovered(lead: string, says: PhraseRule['says']): boolean {
  const said = says.exec(lead);
  if (!said) return false;
  // Patterns end where the forms of a word begin to differ.
  const after = lead.slice(said.index + said[0].length);
  const rest = /^[\p{L}\p{N}]*/u.exec(after)![0];
  // "Account suspended: a story" is the title of an article.
  if (/^\s?[:,]/.test(after.slice(rest.length))) return false;
  return weigh(said[0]) + weigh(rest) >= COVERED * weigh(lead);
}

const isSaidByAny = (lead: string): boolean => PHRASE_RULES.some((rule) => isSaidBy(lead, rule));

const isInAny = (text: string): boolean =>
  PHRASE_RULES.some(({ says, names }) => says.test(text) || names?.test(text.trim()));

/** Whether the page has a topic of its own: a first heading that is not about being blocked. */
export const hasTopic = ({ title, topics }: BlockedPageFacts): boolean => {
  const parts = title.split(SEPARATORS).map((part) => part.trim());
  const isGreeting = parts.length === 2 && GREETING.test(parts[1] ?? '');
  const isOfSite = (heading: string) =>
    HOST_NAME.test(heading) || (parts.length > 1 && (heading !== parts[0] || isGreeting) && parts.includes(heading));
  const first = topics.find((heading) => !isOfSite(heading));
  if (first === undefined || AGE_QUESTION.test(first)) return false;
  if (isExplanation(first)) return true;
  if (UNAVAILABLE.test(first) && weigh(first) <= UNAVAILABLE_LETTERS) return false;
  return (
    weigh(first) > (APOLOGY.test(first) || GREETING.test(first) ? ADDRESS_LETTERS : SHORT_LETTERS) &&
    !sentencesIn(withoutQuotations(first)).some(isSaidByAny)
  );
};

/** Whether the title or the first heading is about such a message, instead of the message itself. */
export const isAboutMessage = ({ title, topics, body }: BlockedPageFacts): boolean =>
  hasSections(topics) ||
  isReference(body) ||
  [title, topics[0] ?? ''].some((lead) => {
    const quoted = quotationsIn(lead).some((each) => isInAny(each.slice(1, -1)));
    if (quoted && withoutQuotations(lead) !== lead && /[\p{L}\p{N}]{2}/u.test(withoutQuotations(lead))) return true;
    const parts = lead.split(PARTS);
    return parts.some(
      (part, at) =>
        (isInAny(part) || ERROR.test(part)) &&
        (isExplanation(withoutPhrases(part)) || isExplanation(parts[at + 1] ?? '')),
    );
  });

/** The number of an error, or the word. */
const ERROR =
  /\b(?:http )?[45]\d\d\b|error|fehler|erreur|errore|erro\b|fout|błąd|fel\b|fejl|feil\b|virhe|chyba|hiba|ошибк|помилк|hata|エラー|错误|錯誤|오류|خطأ|שגיאה|σφάλμα|lỗi/;

/** Titles of articles continue after these. */
const PARTS = /\s*[:\uff1a|\u2013\u2014\u2015?!.\u3002]\s|\s-\s|[\uff1a\uff08(]/;
const withoutPhrases = (text: string): string =>
  PHRASE_RULES.reduce((rest, { says }) => rest.replace(says.exec(rest)?.[0] ?? '', ' '), text);

/** A sentence of the text. */
export interface Sentence {
  readonly text: string;
  readonly letters: number;
}

export function sentencesOf(body: string): readonly Sentence[] {
  return body
    .split(SENTENCE_END)
    .map((text) => ({ text, letters: weigh(text) }))
    .filter(({ letters }) => letters > 0);
}

/** Share of a text that is in sentences that say it, and whether the first one does. */
function shareOf(
  { says }: PhraseRule,
  sentences: readonly Sentence[],
): { readonly share: number; readonly isFirst: boolean } {
  let said = 0;
  let all = 0;
  let isFirst = false;
  for (const { text, letters } of sentences) {
    if (says.test(text)) {
      said += letters;
      isFirst ||= all <= PREFACE_LETTERS;
    }
    all += letters;
  }
  return { share: all === 0 ? 0 : said / all, isFirst };
}

const NOTHING = { share: 0, isFirst: false };

/** Letters in sentences that neither say anything of this kind nor speak to the visitor. */
const foreignLetters = (sentences: readonly Sentence[]): number =>
  sentences.reduce(
    (sum, { text, letters }) =>
      sum + (letters < MIN_FOREIGN_LETTERS || isAddressed(text) || isInAny(text) ? 0 : letters),
    0,
  );

/** Shorter sentences are numbers, names and dates. */
const MIN_FOREIGN_LETTERS = 25;
/** Length of "Sorry!" and the like. */
const PREFACE_LETTERS = 14;
const SENTENCE_END = /(?<=[!?])\s|\.\s|[。！？]/;

/** From strong to weak. */
const STRENGTHS = ['both', 'lead', 'text', 'vague'] as const;
export type Strength = (typeof STRENGTHS)[number];

/** Whether a title that says it is not only a word of another topic, or a question that an article may ask. */
const isLead = (rule: PhraseRule, { leads, hasTopic, isTiny }: Reading): boolean =>
  leads.some((lead) =>
    hasTopic || (lead.endsWith('?') && !isTiny) ? isSaidBy(lead, { ...rule, names: undefined }) : isSaidBy(lead, rule),
  );

/** What is the same for all rules. */
interface Reading {
  readonly facts: BlockedPageFacts;
  readonly sentences: readonly Sentence[];
  readonly leads: readonly string[];
  readonly hasTopic: boolean;
  readonly isError: boolean;
  /** Whether the text may belong to a page in place of content: it is tiny, or speaks to the visitor. */
  readonly isToVisitor: boolean;
  readonly isTiny: boolean;
}

/** How a page says what a rule is about; `undefined` if it does not, or has too much other text. */
function strengthOf(rule: PhraseRule, reading: Reading): Strength | undefined {
  const { facts, sentences, leads, hasTopic, isError, isToVisitor } = reading;
  const { titleLetters = TITLE_LETTERS, textLetters = TEXT_LETTERS } = rule;
  const { ownLetters } = facts;
  const within = (letters: number, withTopic: number) =>
    ownLetters <= (isError ? Math.max(letters, ERROR_LETTERS) : hasTopic ? Math.min(letters, withTopic) : letters);
  if (!within(Math.max(BOTH_LETTERS, titleLetters, textLetters), BOTH_LETTERS)) return undefined;
  if (!isError && rule.unless?.test(facts.body)) return undefined;
  const isLed = leads.some((lead) => isSaidBy(lead, rule));
  const isTitled = isSaidBy(withoutQuotations(facts.title).split(SEPARATORS)[0]!.trim(), { ...rule, names: undefined });
  const mayBeText = within(textLetters, TOPIC_LETTERS.text);
  const { share, isFirst } = isLed || mayBeText ? shareOf(rule, sentences) : NOTHING;
  if (isLed && share > 0 && within(titleLetters === 0 ? 0 : Math.max(BOTH_LETTERS, titleLetters), TOPIC_LETTERS.both))
    return 'both';
  if (
    isLed &&
    within(titleLetters, isTitled ? TOPIC_LETTERS.both : TOPIC_LETTERS.lead) &&
    isLead(rule, reading) &&
    (isError || isToVisitor)
  )
    return 'lead';
  const isMost =
    share >= (isFirst ? (hasTopic ? SHARES.withTopic : SHARES.first) : hasTopic ? SHARES.later : SHARES.second);
  if ((isMost || (isError && share > 0)) && mayBeText) return 'text';
  const isVague = rule.vague?.test(facts.title) && within(VAGUE_LETTERS, 0) && (isError || isToVisitor);
  return isVague ? 'vague' : undefined;
}

/** Whether the text begins with what the title is: "Access Denied is a film". */
function isDefinition({ title, topics, body }: BlockedPageFacts): boolean {
  const start = body.slice(0, DEFINED_CHARACTERS).replace(ARTICLE, '');
  return [topics[0], title, ...title.split(SEPARATORS)].some((name) => {
    const words = (name ?? '')
      .replace(ARTICLE, '')
      .replace(/\s*[(?!].{0,40}$/, '')
      .trim();
    return words.length > 2 && start.startsWith(words) && DEFINES.test(start.slice(words.length));
  });
}

const DEFINED_CHARACTERS = 300;
const ARTICLE =
  /^(?:an?|the|der|die|das|eine?|le|la|les|une?|el|los|las|un[ao]?|il|lo|gli|i|os?|as?|um|uma|het|een|de|en|ett|et) /;
const DEFINES =
  /^ ?(?:\([^)]{0,60}\) )?(?:is|was|are|means|asks|ist|war|sind|est|était|sont|es|era|fue|é|foi|è|jest|to|är|var|er|on|oli|je|bylo|—|–|- это|это|bir) (?!not|nicht|pas|for sale|under|down|currently|temporarily)|^(?:とは|是指|是一|은 |는 )/;

/** The name of a site is no topic. */
const HOST_NAME = /^[\p{L}\p{N}-]+(?:\.[\p{L}\p{N}-]+)+$|^[a-z0-9]+(?:-[a-z0-9]+)+$|^[a-z]+\d+$/u;
/** Headings of a word, like "Oops!", are no topic. */
const SHORT_LETTERS = 8;
/** "How old are you?", which looks like the title of an explanation. */
const AGE_QUESTION =
  /^(?:how old are you|wie alt (?:sind sie|bist du)|quel âge (?:avez-vous|as-tu)|¿?cuántos años (?:tienes|tiene)|quantos anos (?:você )?tem|quanti anni (?:hai|ha)|hoe oud (?:ben je|bent u)|ile masz lat|сколько вам лет|скільки вам років|kaç yaşındasınız|hur gammal är du|hvor gammel er du|kuinka vanha olet|kolik je vám let|koľko máte rokov|hány éves (?:vagy|ön)|ce vârstă (?:ai|aveți)|كم عمرك|בן כמה|πόσων χρονών|berapa usia anda|bạn bao nhiêu tuổi) ?[?؟;？]?$/;
/** Neither are "We're sorry!" and "Congratulations!". */
const ADDRESS_LETTERS = 26;
/** "Video unavailable" is what the text then explains. */
const UNAVAILABLE_LETTERS = 40;
const UNAVAILABLE =
  /unavailable|not available|nicht (?:verfügbar|erreichbar)|indisponible|no disponible|não disponível|indisponível|non disponibile|niet beschikbaar|niedostępn|недоступ|kullanılam|inte tillgänglig|ikke tilgængelig|ikke tilgjengelig|ei saatavilla|nedostupn|nem elérhető|indisponibil|利用いただけません|利用できません|不可用|無法使用|이용할 수 없|غير متاح|không khả dụng|tidak tersedia/;
const APOLOGY =
  /sorry|oops|oh no\b|^(?:schade|hoppla|ups|oups|aïe|uy|¡uy|¡ups|¡vaya|ihh|ops|oeps|ojej|упс|ой|hay aksi|øv|oi|hoppsan|hups|jejda|hoppá|ôi)(?![\p{L}])|哎呀|앗|אופס|ουπς|apolog|please|one moment|hold on|leider|bitte|désolé|veuillez|lo sentimos|vaya\b|lamentamos|desculpe|spiacenti|scusa|helaas|even geduld|przepraszamy|niestety|извините|сожалению|пожалуйста|üzgünüz|lütfen|申し訳|ください|抱歉|对不起|죄송|주세요|tyvärr|desværre|dessverre|beklager|pahoittelemme|valitettavasti|omlouváme|bohužel|sajnáljuk|kérjük|ne pare rău|вибачте|на жаль|maaf|xin lỗi|rất tiếc|ขออภัย|מצטערים|क्षमा|λυπούμαστε|عذر|عفو/u;
const GREETING =
  /^(?:take a b|easy|not so fast|quick check|faites une pause|tómate un|fai una pausa|calma|rustig|zwolnij|не так |ta det|tag det|hidasta|zpomal|our bad|you shall not|kleine pause|one more|just one|one last|nur noch|noch eine|eine frage|encore une|une dernière|una última|solo una|só uma|un'ultima|nog één|jeszcze|ещё один|еще один|ще одне|son bir|ännu en|én sidste|vielä yksi|ještě|még egy|もう一つ|最后一|한 가지|dear\b|sehr geehrte|liebe|chère?s?\b|estimad|querid|gentil|car[oi]\b|beste\b|szanown|drog|уважаем|дорог|шановн|sayın|kära|kære|kjære|hyvä|vážen|tisztelt|stimat|尊敬的|亲爱的|親愛的|お客様|안녕하|고객님|عزيزي|congratulations|félicitations|herzlichen glückwunsch|felicidades|parabéns|congratulazioni|gefeliciteerd|gratul|поздравля|tebrikler|おめでとう|恭喜|축하|hello|hi\b|hey|welcome|willkommen|bienvenue|bienvenid|attention|achtung|notice|warning|hinweis|important|(?:info|information|información|informação|informazioni?|informatie|информация|сообщение|повідомлення|mensaje|mensagem|message|messaggio|mitteilung|meldung|melding|bericht|komunikat|meddelande|besked|bilgi|mesaj|提示(?:信息|訊息)?|お知らせ|알림|error|erreur|fehler)(?: du forum| del foro|)[.!:]*$|uh|ooh|ouch|yikes|hmm|ahem|whoops|oh )/;
/** Maximum letters of a page that has a topic of its own. */
const TOPIC_LETTERS = { both: 300, lead: 90, text: 150 };
/** Share of the text that must say it if the title does not: less if it begins with the first sentence. */
const SHARES = { first: 0.2, second: 0.5, withTopic: 0.6, later: 0.75 };
const VAGUE_LETTERS = 120;
/** A text this short says nothing of its own. */
const TINY_LETTERS = 60;
/** Maximum letters of a page that does not speak to its visitor. */
const PLAIN_LETTERS = 120;
/** Maximum letters in sentences that are about something else. */
const FOREIGN_LETTERS = 120;
/** Notices name offices, prices and numbers. */
const NOTICE_LETTERS = 250;
/** With more headings it is a question over content. */
const NOTICE_TOPICS = 3;

/** Poems and songs speak to somebody too. */
const MIN_VERSES = 6;

const LOGS_IN =
  /\b(?:log|sign|logged|signed)[ -]?in\b|login|registered|einlog|eingelog|anmeld|connect|sesión|sessão|acced|inlog|ingelog|zalog|войд|вошли|авториз|увійд|giriş|logga in|log ind|logg inn|kirjaud|přihl|jelentkez|autentific|ログイン|登[录錄陆入]|로그인|تسجيل|đăng nhập/;

/** A page with more letters of its own says nothing as a whole. */
const MAX_LETTERS = Math.max(
  BOTH_LETTERS,
  ...PHRASE_RULES.flatMap(({ titleLetters = 0, textLetters = 0 }) => [titleLetters, textLetters]),
);

/** The kind of page that the words of a page describe best. `allowed` limits the kinds. */
export function kindByPhrases(
  facts: BlockedPageFacts,
  { isError, allowed }: { readonly isError: boolean; readonly allowed?: ReadonlySet<BlockedKind> | undefined },
): BlockedKind | undefined {
  if (!isError && facts.ownLetters > MAX_LETTERS) return undefined;
  const body = withoutQuotations(facts.body);
  const sentences = sentencesOf(body);
  const leads = leadsOf(facts);
  const isTiny = weigh(body) <= TINY_LETTERS && !isMostlyCited(facts);
  const isToVisitor = isTiny || isAddressed(body) || leads.some((lead) => isAddressed(lead) && isSaidByAny(lead));
  const reading: Reading = { facts, sentences, leads, hasTopic: hasTopic(facts), isError, isToVisitor, isTiny };
  let best: { readonly kind: BlockedKind; readonly rank: number; readonly isNotice: boolean } | undefined;
  for (const rule of PHRASE_RULES) {
    if (allowed && !allowed.has(rule.kind)) continue;
    const strength = strengthOf(rule, reading);
    if (!strength) continue;
    const isNoticed = isNotice(rule, strength, reading);
    const asReason = isNoticed ? 'both' : 'lead';
    const rank = STRENGTHS.indexOf(rule.isReason && strength === 'text' ? asReason : strength);
    if (rank < (best?.rank ?? STRENGTHS.length)) best = { kind: rule.kind, rank, isNotice: isNoticed };
  }
  if (!best || (!isError && isContent(reading, best.isNotice))) return undefined;
  // "You don't have permission to view this page. You must log in."
  const isLogin =
    best.kind === 'denied' &&
    !isError &&
    (facts.passwordFields > 0 || sentences.some(({ text }) => LOGIN.says.test(text) && LOGS_IN.test(text)));
  return isLogin && (!allowed || allowed.has('login')) ? 'login' : best.kind;
}

/** Whether a page may say it to nobody: its title says so too, or there is nothing else that it is about. */
const isNotice = ({ isImpersonal }: PhraseRule, strength: Strength, { facts, hasTopic }: Reading): boolean =>
  isImpersonal === true &&
  facts.topics.length <= NOTICE_TOPICS &&
  (strength === 'both' || (strength === 'text' && !hasTopic));

/** Whether most of a page is text that it cites or sets line by line. */
const isMostlyCited = ({ body, headings, ownLetters }: BlockedPageFacts): boolean =>
  ownLetters > PLAIN_LETTERS + 2 * (weigh(body) + weigh(headings.join('')));

/** Whether a page that has such words is an article: it explains them, or has sentences about something else. */
const isContent = ({ facts, sentences, isToVisitor, hasTopic }: Reading, isNotice: boolean): boolean =>
  (!(isToVisitor || isNotice) &&
    facts.ownLetters > (hasTopic || foreignLetters(sentences) > 0 ? TINY_LETTERS : PLAIN_LETTERS)) ||
  facts.verses >= MIN_VERSES ||
  isAboutMessage(facts) ||
  isDefinition(facts) ||
  foreignLetters(sentences) > (isNotice ? NOTICE_LETTERS : FOREIGN_LETTERS);
