/** Pages that ask for consent to cookies first. */
import { anyOf, type PhraseRule } from './phrase-rule.ts';

export const CONSENT: PhraseRule = {
  kind: 'consent',
  source: 'https://eur-lex.europa.eu/eli/dir/2002/58/oj',
  says: anyOf({
    en: [
      '\\bbefore you continue\\b',
      '\\bwe (?:and our (?:\\d+ )?partners )?(?:use|need|value|store)[^.!?]{0,60}(?:cookies|your privacy|consent)',
      '\\b(?:accept|agree|consent)[^.!?]{0,40}(?:cookies|to continue|tracking|and continue|to read|to enter|to open)',
      '\\bconsent to (?:the use|cookies|our)',
      '\\byour privacy (?:choices|matters)',
    ],
    de: [
      '(?:stimme|stimmen|zustimm|einwillig|akzeptier)[^.!?]{0,60}(?:cookies|zu,|fortfahren|weiter|seite|werbung|tracking)',
      'bevor (?:sie|du) fortf',
      'wir (?:und [^.!?]{0,40})?(?:verwenden|nutzen|setzen|brauchen|speichern)[^.!?]{0,40}cookies',
      '(?:cookies|tracking|werbung)[^.!?]{0,40}(?:zustimm|einwillig|akzeptier)',
    ],
    fr: [
      "(?:avant de continuer|avant d'accéder)",
      '(?:nous|nos)[^.!?]{0,60}(?:utilis|dépos|stock)[^.!?]{0,30}cookies',
      '(?:accept|consent)[^.!?]{0,50}(?:cookies|continuer|traceurs|poursuivre)',
    ],
    es: [
      'antes de continuar',
      '(?:utilizamos|usamos)[^.!?]{0,40}cookies',
      '(?:acept|consent)[^.!?]{0,50}(?:cookies|continuar|seguir)',
    ],
    pt: [
      'antes de (?:continuar|prosseguir)',
      '(?:utilizamos|usamos)[^.!?]{0,40}cookies',
      '(?:aceit|consent)[^.!?]{0,50}(?:cookies|continuar|prosseguir)',
    ],
    it: [
      'prima di (?:continuare|proseguire)',
      '(?:utilizziamo|usiamo)[^.!?]{0,40}cookie',
      '(?:accett|consens|acconsent)[^.!?]{0,50}(?:cookie|continuare|proseguire)',
    ],
    nl: [
      'voordat (?:je|u) (?:verdergaat|doorgaat|verder)',
      '(?:wij|we) (?:gebruiken|plaatsen)[^.!?]{0,40}cookies',
      '(?:accept|toestemming|akkoord)[^.!?]{0,50}(?:cookies|verder|door)',
    ],
    pl: [
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
  }),
  titleLetters: 0,
  textLetters: 0,
};
