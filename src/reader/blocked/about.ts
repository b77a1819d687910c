/**
 * Tells what a page says from what it tells about others: passages in quotation marks, and titles that explain a
 * message ("403 Forbidden: what it means").
 */

/** Bounded, so that an unclosed mark costs little. */
const QUOTED =
  /[\u201c\u201d\u201e\u201f][^\u201c\u201d\u201e\u201f]{1,300}[\u201c\u201d\u201f]|\u00ab[^\u00ab\u00bb]{1,300}\u00bb|\u00bb[^\u00ab\u00bb]{1,300}\u00ab|"[^"]{1,300}"|[\u300c\u300e][^\u300c-\u300f]{1,300}[\u300d\u300f]/g;
const ELLIPSIS = ' \u2026 ';
/** A text that has only this left says what it quotes. */
const MIN_LEFT = /[\p{L}\p{N}][^\p{L}\p{N}]{0,3}[\p{L}\p{N}]/u;

/** A normalized text without what it quotes. A text that is nothing but a quotation stays as it is. */
export function withoutQuotations(text: string): string {
  const left = text.replace(QUOTED, ELLIPSIS);
  return MIN_LEFT.test(left) ? left : text;
}

/** The passages that a normalized text quotes. */
export const quotationsIn = (text: string): readonly string[] => text.match(QUOTED) ?? [];

/** Words of titles that explain something, by language. */
const EXPLAINS: Readonly<Record<string, string>> = {
  en: 'how|why|what (?:is|are|it|to|does|do|now|causes?|this|happens|you)|fix(?:es|ed|ing)?|guide|tutorial|explained|explainer|explains|meaning|means|causes?|solutions?|solved|troubleshoot(?:ing)?|understanding|reading|designing|handling|dealing|history of|story of|review|checks|tips|lessons|post-?mortem|anyone else|ideas|for (?:beginners|developers)|best practices|documentation|docs',
  de: 'wie|so geht\\S{0,2}|so (?:klappt|funktioniert|behebst|beheben)|warum|weshalb|was (?:ist|tun|nun|bedeutet|sie|du|gilt|steckt)|ursachen?|lösung(?:en)?|beheben|behebung|erklärt|erklärung|anleitung|bedeutung|bedeutet|tipps|ratgeber|leitfaden|geschichte|rezension',
  fr: "comment|pourquoi|que faire|qu'est-ce|que signifie|causes?|solutions?|corriger|résoudre|expliqu\\S{1,5}|signification|guide|conseils|histoire|critique",
  es: 'cómo|por qué|qué (?:es|significa|hacer|son)|causas?|solución|soluciones|solucionar|significado|guía|consejos|ideas|reseña|explicad[oa]',
  pt: 'como|por que|porquê|o que|causas?|solução|soluções|resolver|corrigir|significado|guia|dicas|resenha|crítica',
  it: 'come|perché|cosa|che cos\\S{1,3}|cause|soluzion[ei]|risolvere|significa|significato|guida|consigli|recensione|spiegat[oa]',
  nl: 'hoe|waarom|wat (?:is|te|betekent|nu)|oorzak(?:en)?|oorzaak|oplossing(?:en)?|oplossen|betekenis|uitleg|uitgelegd|recensie|tips',
  pl: 'jak|dlaczego|co (?:to|dalej|robić|oznacza|zrobić)|przyczyny?|rozwiązani\\S{1,3}|naprawić|oznacza|poradnik|recenzja',
  sv: 'hur|varför|vad (?:är|betyder|gör)|orsak(?:er)?|lösning(?:ar)?|så fungerar|förklar\\S{1,4}|guide|hvordan|hvorfor|hvad (?:er|betyder)|hva (?:er|betyr)|løsning(?:er)?|årsag(?:er)?|sådan',
  fi: 'miten|miksi|mikä|mitä|ratkais\\S{1,6}|ohje',
  cs: 'proč|co (?:je|to|dělat|znamená)|příčin[ay]|řešení|návod',
  hu: 'hogyan|miért|mit (?:jelent|tegy\\S{1,5})|megoldás\\S{0,2}',
  ro: 'cum|de ce|ce (?:este|înseamnă)|cauze|soluți\\S{1,3}',
  ru: 'как|почему|зачем|что (?:такое|делать|значит|это|означает)|причин\\S{1,2}|решени\\S{1,2}|исправить|устранить|означает|разбира\\S{1,4}|руководство|обзор|рецензия|як|чому|що (?:таке|робити)',
  tr: 'nasıl|neden|nedir|ne demek|çözüm\\S{0,5}|rehber\\S{0,2}|inceleme',
  id: 'cara|mengapa|kenapa|apa itu|penyebab|cách|tại sao|là gì|nguyên nhân',
  ar: 'كيف|لماذا|ما هو|ما هي|ما معنى|أسباب|حل|دليل|איך|למה|מדוע|מה זה|πώς|γιατί|τι είναι|कैसे|क्यों|क्या है',
};
const EXPLANATION = new RegExp(`(?<![\\p{L}\\p{N}])(?:${Object.values(EXPLAINS).join('|')})(?![\\p{L}\\p{N}])`, 'u');
const EXPLANATION_PARTS =
  /とは|原因|対処|対策|方法|なぜ|解説|意味|解決|仕組み|入門|如何|怎么|怎麼|为什么|為什麼|解决|解決|是什么|什么意思|教程|原理|详解|방법|원인|이유|해결|무엇|의미|이란|위한|วิธี|ทำไม|คืออะไร/;

/** Whether a normalized title explains something. */
export const isExplanation = (title: string): boolean => EXPLANATION_PARTS.test(title) || EXPLANATION.test(title);

/** Headings of the entries of dictionaries, encyclopedias and references, by language. */
const SECTIONS: Readonly<Record<string, string>> = {
  en: '(?:etymology|pronunciation|noun|proper noun|verb|adjective|adverb|interjection)(?: \\d)?|(?:derived|related) terms|translations|synonyms|antonyms|specifications?|browser compatibility|syntax|plot|reception|discography|track listing|references',
  de: 'etymologie|herkunft|wortherkunft|aussprache|worttrennung|substantiv|bedeutungen|synonyme|übersetzungen|einzelnachweise|spezifikationen|handlung|rezeption',
  fr: 'étymologie|prononciation|nom commun|verbe|synonymes|traductions|dérivés|spécifications|notes et références|synopsis',
  es: 'etimología|pronunciación|sustantivo(?: masculino| femenino)?|sinónimos|traducciones|especificaciones|referencias|argumento|sinopsis',
  pt: 'etimologia|pronúncia|substantivo|sinónimos|sinônimos|tradução|traduções|especificações|referências|enredo|sinopse',
  it: 'etimologia|pronuncia|sostantivo|sinonimi|traduzioni?|specifiche|note e riferimenti|trama',
  nl: 'etymologie|herkomst|uitspraak|zelfstandig naamwoord|synoniemen|vertalingen|specificaties',
  pl: 'etymologia|wymowa|rzeczownik|czasownik|synonimy|tłumaczenia|specyfikacje|przypisy|fabuła',
  north:
    'etymologi|uttal|udtale|uttale|substantiv|synonymer|översättningar|oversættelser|oversettelser|etymologia|ääntäminen|substantiivi|synonyymit|käännökset',
  east: 'etymologie|výslovnost|podstatné jméno|synonyma|překlady|etimológia|kiejtés|főnév|fordítások|etimologie|pronunție|substantiv',
  ru: 'этимология|произношение|морфологические и синтаксические свойства|семантические свойства|синонимы|перевод|спецификации|примечания|сюжет|етимологія|вимова|іменник|примітки',
  tr: 'etimoloji|köken|söyleniş|eylem|kaynakça|çeviriler',
  asia: '語源|発音|名詞|動詞|翻訳|脚注|出典|仕様書?|词源|詞源|发音|發音|名词|名詞|动词|参考资料|参考文献|規範|规范|어원|발음|명사|동사|번역|각주|명세',
  ar: 'أصل الكلمة|النطق|المراجع|مراجع|גיזרון|שם עצם|הערות שוליים',
};
const SECTION = new RegExp(`^(?:[\\d.]{1,6} )?(?:${Object.values(SECTIONS).join('|')})(?: ?\\[.{1,20}\\])?$`, 'u');
/** Headings that other pages have too, so it takes two. */
const FURTHER_SECTION =
  /^(?:status|examples?|description|see also|notes|history|usage|overview|example response|external links|beispiele?|siehe auch|beschreibung|geschichte|weblinks|verwendung|exemples?|voir aussi|histoire|description|ejemplos?|véase también|historia|descripción|exemplos?|ver também|história|descrição|esempi|esempio|voci correlate|storia|descrizione|voorbeeld(?:en)?|zie ook|geschiedenis|przykład|przykłady|zobacz też|historia|exempel|se även|eksempel|eksempler|se også|esimerkki|esimerkkejä|katso myös|příklad|příklady|viz též|пример|примеры|см\. также|смотрите также|история|örnek|örnekler|ayrıca bakınız|例|関連項目|示例|参见|參見|예제|같이 보기)$/;

/** Whether normalized headings are those of an entry in a work of reference. */
export const hasSections = (headings: readonly string[]): boolean =>
  headings.some((heading) => SECTION.test(heading)) ||
  headings.filter((heading) => FURTHER_SECTION.test(heading)).length > 1;

/** What references of HTTP say about a status. Pages with this status never say it. */
const STATUS_REFERENCE =
  /\b(?:response |http )?status(?: code)? (?:indicates|means|is (?:returned|sent|used|similar))\b|statuscode (?:bedeutet|gibt an|zeigt)|code (?:de statut|d.état)[^.]{0,40}(?:indique|signifie)|código (?:de estado|de status)[^.]{0,40}(?:indica|significa)|codice di stato[^.]{0,40}(?:indica|significa)|код (?:состояния|статуса|ответа)[^.]{0,40}(?:означает|указывает)|(?:状态码|狀態碼)[^。]{0,20}(?:表示|代表)|ステータス(?:コード)?[^。]{0,30}(?:示し|意味)|상태 코드[^.]{0,30}(?:나타|의미)/;

/** Whether a normalized text explains a status of HTTP. */
export const isReference = (text: string): boolean => STATUS_REFERENCE.test(text);
