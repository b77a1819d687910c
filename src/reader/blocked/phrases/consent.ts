/** Pages that ask for consent to cookies first. */
import { anyOf, type PhraseRule } from './phrase-rule.ts';

export const CONSENT: PhraseRule = {
  kind: 'consent',
  source: 'https://eur-lex.europa.eu/eli/dir/2002/58/oj',
  says: anyOf({
    en: [
      '\\bpartners\\b[^.!?]{0,60}\\b(?:store|access|process|use)\\b',
      '\\bbefore you continue\\b',
      '\\bwe (?:and our (?:\\d+ )?partners )?(?:use|need|value|store)[^.!?]{0,60}(?:cookies|your privacy|consent)',
      '\\b(?:accept|agree|consent)[^.!?]{0,40}(?:cookies|to continue|tracking|and continue|to read|to enter|to open)',
      '\\bconsent to (?:the use|cookies|our)',
      '\\byour privacy (?:choices|matters)',
    ],
    de: [
      'partner[^.!?]{0,60}(?:speichern|verarbeiten|nutzen|verwenden|einverstanden)|willigen sie[^.!?]{0,30}ein',
      '(?:stimme|stimmen|zustimm|einwillig|akzeptier)[^.!?]{0,60}(?:cookies|zu,|fortfahren|weiter|seite|werbung|tracking)',
      'bevor (?:sie|du) fortf',
      'wir (?:und [^.!?]{0,40})?(?:verwenden|nutzen|setzen|brauchen|speichern)[^.!?]{0,40}cookies',
      '(?:cookies|tracking|werbung)[^.!?]{0,40}(?:zustimm|einwillig|akzeptier)',
    ],
    fr: [
      'partenaires[^.!?]{0,60}(?:stock|utilis|accéd|trait)|acceptez[^.!?]{0,30}cookies',
      "(?:avant de continuer|avant d'accéder)",
      '(?:nous|nos)[^.!?]{0,60}(?:utilis|dépos|stock)[^.!?]{0,30}cookies',
      '(?:accept|consent)[^.!?]{0,50}(?:cookies|continuer|traceurs|poursuivre)',
    ],
    es: [
      '(?:socios|terceros)[^.!?]{0,60}(?:almacen|utiliz|acced|trat|usamos)',
      'antes de continuar',
      '(?:utilizamos|usamos)[^.!?]{0,40}cookies',
      '(?:acept|consent)[^.!?]{0,50}(?:cookies|continuar|seguir)',
    ],
    pt: [
      'parceiros[^.!?]{0,60}(?:armazen|utiliz|acess|process|usamos)',
      'antes de (?:continuar|prosseguir)',
      '(?:utilizamos|usamos)[^.!?]{0,40}cookies',
      '(?:aceit|consent)[^.!?]{0,50}(?:cookies|continuar|prosseguir)',
    ],
    it: [
      '(?:partner|terze parti)[^.!?]{0,60}(?:archivi|utilizz|trattiam|memorizz|usiam)',
      'prima di (?:continuare|proseguire)',
      '(?:utilizziamo|usiamo)[^.!?]{0,40}cookie',
      '(?:accett|consens|acconsent)[^.!?]{0,50}(?:cookie|continuare|proseguire)',
    ],
    nl: [
      'partners[^.!?]{0,60}(?:slaan|gebruiken|verwerken|openen)|vergelijkbare technieken',
      'voordat (?:je|u) (?:verdergaat|doorgaat|verder)',
      '(?:wij|we) (?:gebruiken|plaatsen)[^.!?]{0,40}cookies',
      '(?:accept|toestemming|akkoord)[^.!?]{0,50}(?:cookies|verder|door)',
    ],
    pl: [
      '(?:rodo|2016/679|zaufan\\w{1,3} partner)',
      '(?:klikając|zgod)[^!?]{0,60}(?:przetwarzani|przejdź|danych)',
      '(?:administratorem|przetwarza\\w{1,4})[^!?]{0,40}(?:danych|dane)|wycofać[^!?]{0,30}|(?:dostępu do|sprostowania)[^!?]{0,20}danych|(?:treści|reklam)\\w{0,2}[^!?]{0,40}(?:zainteresowa|profil|preferencj)',
      'partnerzy[^.!?]{0,60}(?:przechow|korzyst|przetwarz|używa)',
      '(?:zanim|przed) (?:przejdziesz|kontynu|przejściem)',
      '(?:używamy|korzystamy|wykorzystujemy)[^.!?]{0,40}cookie',
      '(?:akcept|zgod|zgadza)[^.!?]{0,50}(?:cookie|przejdź|kontynu)',
    ],
    ru: [
      'прежде чем (?:продолжить|перейти)',
      '(?:мы )?использу(?:ем|ет)[^.!?]{0,40}(?:cookie|куки)',
      '(?:соглас|прин(?:ять|има))[^.!?]{0,50}(?:cookie|куки|продолж)',
    ],
    tr: ['devam etmeden önce', 'çerez[^.!?]{0,40}(?:kullan|kabul|onay)'],
    ja: ['(?:続行|続ける|ご利用)(?:する)?前に', '(?:cookie|クッキー)[^。]{0,40}(?:使用|利用|同意|許可)'],
    zh: [
      '(?:继续|繼續)(?:之前|前)',
      '(?:cookie|cookies)[^。]{0,30}(?:同意|接受|使用)',
      '(?:同意|接受|使用)[^。]{0,30}cookie',
    ],
    ko: ['계속하기 전에', '쿠키[^.]{0,30}(?:사용|동의|허용)'],
    ar: ['قبل (?:المتابعة|أن تتابع)', '(?:نستخدم|استخدام)[^.]{0,30}(?:ملفات تعريف الارتباط|الكوكيز|كوكيز)'],
    others: [
      'partner\\w{0,5}[^.!?]{0,60}(?:lagrar|använder|behandlar|gemmer|bruger|lagrer|bruker|uklád|použív|zpracov|tárol|használ)',
      'kumppani\\w{0,5}[^.!?]{0,60}(?:tallen|käyt)|(?:hyväksy|käytämme)[^.!?]{0,30}evästei',
      '(?:används?|använder|accepter\\w{1,3}|bruger|bruker)[^.!?]{0,30}(?:cookies|kakor|informasjonskapsler)',
      '(?:používáme|souhlas)[^.!?]{0,60}cookies?|potřebujeme[^.!?]{0,12}souhlas|(?:használunk|elfogad)[^.!?]{0,40}(?:cookie|süti)|(?:folosim|accept)[^.!?]{0,40}cookie',
    ],
  }),
  titleLetters: 0,
  textLetters: 0,
};
