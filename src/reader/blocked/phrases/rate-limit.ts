/** Pages about too many requests. */
import { anyOf, type PhraseRule, whole } from './phrase-rule.ts';

export const RATE_LIMIT: PhraseRule = {
  kind: 'rate-limit',
  source: 'https://www.rfc-editor.org/rfc/rfc6585#section-4',
  says: anyOf({
    en: [
      '\\btoo many (?:requests|attempts|connections|visits|page views)',
      '\\bexceeded (?:the|a|your|our)? ?[^.!?]{0,30}(?:rate|request|usage|daily|hourly|api|download|view)? ?(?:limit|quota)',
      '\\b(?:you are|you have been|being|been) rate[ -]?limited',
      '\\brate[ -]?limit (?:exceeded|reached|hit)',
      "\\b(?:you are|you're|requests are) (?:being )?(?:throttled|going too fast|making requests too)",
      '\\b(?:slow down|too fast|too quickly|too frequently|too often)[^.!?]{0,40}(?:again|moment|minute|request|wait)',
      "\\byou (?:have|'ve) (?:reached|hit)[^.!?]{0,30}(?:limit|maximum|quota)",
    ],
    de: [
      'zu viele (?:anfragen|zugriffe|aufrufe|versuche|abfragen)',
      '(?:limit|höchstzahl|anzahl)[^.!?]{0,30}(?:anfragen|aufrufe|abrufe)[^.!?]{0,30}(?:überschritten|erreicht)',
      '(?:anfragelimit|zugriffslimit)',
    ],
    fr: [
      'trop de (?:requêtes|demandes|connexions|tentatives|visites)',
      '(?:limite|quota|nombre)[^.!?]{0,40}(?:requêtes|demandes|consultations)[^.!?]{0,30}(?:dépass|attein)',
      'limite[^.!?]{0,20}dépassée',
    ],
    es: [
      'demasiad[oa]s (?:solicitudes|peticiones|consultas|intentos|visitas)',
      'límite[^.!?]{0,30}(?:superado|excedido|alcanzado|solicitudes|peticiones)',
      '(?:ha|has) (?:superado|excedido|alcanzado)[^.!?]{0,20}límite',
    ],
    pt: [
      '(?:muit[oa]s|demasiad[oa]s) (?:solicitações|requisições|pedidos|tentativas|acessos)',
      'limite[^.!?]{0,30}(?:excedido|atingido|ultrapassado)',
      '(?:excedeu|atingiu|ultrapassou)[^.!?]{0,20}limite',
    ],
    it: [
      'tropp[ei] (?:richieste|tentativi|accessi|visite)',
      'limite[^.!?]{0,30}(?:superato|raggiunto)',
      '(?:superato|raggiunto)[^.!?]{0,20}limite',
    ],
    nl: ['te ve(?:el|le) (?:verzoeken|aanvragen|pogingen|bezoeken)', 'limiet[^.!?]{0,30}(?:overschreden|bereikt)'],
    pl: [
      'zbyt (?:wiele|dużo|często|wielu)[^.!?]{0,10}(?:żąda|zapyta|prób|wywoła|odwiedz)',
      'limit[^.!?]{0,20}(?:przekroczon|wyczerpan)',
      'przekroczon[^.!?]{0,20}limit',
    ],
    ru: [
      'слишком (?:много|часто|частые|большое)[^.!?]{0,20}(?:запрос|обращ|попыт)',
      '(?:превышен|исчерпан)[^.!?]{0,30}(?:лимит|числ|количеств)',
      'лимит[^.!?]{0,20}(?:превышен|исчерпан)',
    ],
    tr: [
      '(?:çok|aşırı) (?:fazla|sık|sayıda)[^.!?]{0,12}(?:istek|deneme|talep)',
      '(?:istek|hız) (?:sınırı|limiti)[^.!?]{0,20}aş',
    ],
    ja: [
      '(?:リクエスト|アクセス)[^。]{0,12}(?:多すぎ|回数|集中しすぎ|上限|頻繁|過多)',
      '(?:短時間|連続)[^。]{0,20}(?:アクセス|リクエスト)',
      'しばらく(?:時間を)?(?:お|置|おい)[^。]{0,12}(?:再度|もう一度)[^。]{0,12}アクセス',
    ],
    zh: [
      '(?:访问|請求|请求|操作|訪問|查询)[^。]{0,6}(?:频繁|頻繁|过多|過多|太多|过快|過快|次数|頻率|频率)',
      '(?:频率|頻率|次数)[^。]{0,6}(?:超|限制|上限|过高)',
    ],
    ko: ['(?:요청|접속|시도)[^.]{0,8}(?:너무 많|과도|초과|횟수)', '너무 많은 (?:요청|접속|시도)'],
    ar: ['(?:طلبات|محاولات)[^.]{0,12}كثير', 'عدد كبير[^.]{0,20}(?:طلبات|محاولات)', 'تجاوز[^.]{0,20}(?:الحد|حد)'],
    others: [
      'för många (?:förfrågningar|försök|anrop)',
      'for mange (?:anmodninger|forespørsler|forsøg|forsøk)',
      'příliš mnoho (?:požadavků|pokusů)',
      'liian monta|liikaa pyyntöjä',
      'забагато запитів',
      'prea multe (?:cereri|solicitări)',
      'túl sok kérés',
      'terlalu banyak permintaan',
    ],
  }),
  names: whole({
    en: [
      '(?:error )?429(?:[ :,-]*too many requests)?',
      'too many requests',
      'rate limit(?:ed|s)?(?: exceeded)?',
      'slow down',
      'whoa there[^.!?]{0,20}',
      'limit (?:exceeded|reached)',
    ],
    others: ['zu viele anfragen', 'trop de requêtes', '访问(?:过于)?频繁', '访问频率过高'],
  }),
  isReason: true,
};
