/** Notices of providers that a state or a court has them block a page. They name a law and speak to nobody. */
import { anyOf, type PhraseRule } from './phrase-rule.ts';

export const COURT: PhraseRule = {
  kind: 'geo',
  source: 'https://www.rfc-editor.org/rfc/rfc7725#section-3',
  says: anyOf({
    en: [
      '\\b(?:blocked|restricted|disabled)\\b[^.!?]{0,40}\\b(?:court|high court|judge|judg(?:e)?ment|government|ministry|department of telecom\\w{0,12}|law enforcement|competent authorit\\w{1,3}|regulator)\\b',
      '\\b(?:court order|order of the (?:high )?court|by (?:the )?(?:decision|order)[^.!?]{0,100}(?:court|judge|judgeship|authority|ministry))\\b',
      '\\b(?:url|site|website|page)[^.!?]{0,40}\\bblocked (?:as per|under|pursuant to|in accordance with|following)[^.!?]{0,80}(?:instructions?|orders?|directions?|law|legislation|act\\b)',
    ],
    de: [
      '(?:gesperrt|sperrung|blockiert)[^!?]{0,80}(?:gerichtsbeschluss|gerichtlich|clearingstelle urheberrecht|bundesnetzagentur|behördlich|urteil)',
      '(?:aufgrund|wegen)[^!?]{0,40}(?:gerichtsbeschluss|urteils|anordnung|eu-sanktion)\\w{0,3}[^!?]{0,80}(?:gesperrt|blockiert|nicht)',
    ],
    fr: [
      '(?:accès|site|page)[^!?]{0,80}(?:bloqué|interdit|empêché)\\w{0,2}[^!?]{0,80}(?:décision|autorité|judiciaire|tribunal|arcom|autorité nationale des jeux|ministère)',
      '(?:décision (?:de justice|judiciaire|du tribunal)|ordonnance du tribunal|autorités judiciaires)[^!?]{0,80}(?:accès|bloqu|site)',
      'site[^!?]{0,40}(?:figure|figurant) (?:sur|dans) la liste (?:noire|des sites)',
    ],
    es: [
      '(?:acceso|sitio|página|contenido|web|dominio|ip)[^!?]{0,80}(?:bloquead|restringid|impedid|suspendid)\\w[^!?]{0,80}(?:sentencia|juzgado|tribunal|autoridad|orden judicial|resolución|ministerio|requerimiento)',
      '(?:en cumplimiento de|por orden de)[^!?]{0,60}(?:sentencia|juzgado|tribunal|autoridad|resolución|judicial)',
    ],
    pt: [
      '(?:acesso|site|sítio|página|conteúdo)[^!?]{0,80}(?:bloquead|restring|suspens|impedid)\\w{0,4}[^!?]{0,80}(?:tribunal|judicial|autoridade|igac|anatel|ordem|determinação|entidade)',
      '(?:ordem|decisão|determinação) (?:judicial|do tribunal|das? autoridades?)[^!?]{0,80}(?:acesso|bloque|site)',
    ],
    it: [
      '(?:accesso|sito|pagina|contenuto|dominio|risorsa)[^!?]{0,80}(?:inibit|oscurat|bloccat|disabilitat|sequestr)\\w{0,4}[^!?]{0,80}(?:provvediment|ordinanza|autorità|agcom|tribunale|agenzia|consob|procura|decreto)',
      '(?:provvedimento|ordinanza|disposizione|ordine)[^!?]{0,40}(?:autorità|giudiziari|agcom|tribunale|agenzia)[^!?]{0,80}(?:inibi|oscura|blocc|sito|accesso)',
      'sito (?:web )?(?:sottoposto a|posto sotto) sequestro',
    ],
    nl: [
      '(?:website|site|toegang|pagina)[^!?]{0,80}(?:geblokkeerd|afgesloten)[^!?]{0,80}(?:rechter|rechtbank|gerechtshof|vonnis|overheid|kansspelcommissie|gerechtelijk|autoriteit)',
      '(?:vonnis|bevel|uitspraak|beslissing)[^!?]{0,40}(?:rechter|rechtbank|gerechtshof|gerecht|autoriteit)[^!?]{0,80}(?:geblokkeerd|toegang)',
    ],
    pl: [
      '(?:strona|dostęp|domena|serwis)[^!?]{0,80}(?:zablokowan|zakazan)\\w{0,2}[^!?]{0,80}(?:ustaw|rejestr|sąd|postanowieni|urzęd|decyzj|ministerstw)',
      'rejestr\\w{0,3} domen[^!?]{0,40}(?:niezgodnie|ministerstw)',
    ],
    ru: [
      '(?:ограничен|заблокирован|закрыт)\\w{0,2}[^!?]{0,60}(?:на основании|в соответствии|по решению|по требованию|согласно)[^!?]{0,60}(?:закон|суд|роскомнадзор|орган|прокуратур)',
      'един\\w{2,3} реестр\\w{0,3}[^!?]{0,60}(?:запрещ|доменных)',
      '(?:роскомнадзор|генеральн\\w{2,3} прокуратур)\\w{0,3}[^!?]{0,60}(?:реестр|ограничен|заблокирован)',
    ],
    tr: [
      '(?:mahkeme|hâkimli|hakimli|sulh ceza|btk|bilgi teknolojileri|kurulu|başkanlığı)\\w{0,6}[^!?]{0,80}(?:erişim|engel)',
      '(?:\\d{4} sayılı|kanun)[^!?]{0,80}erişim\\w{0,4}[^!?]{0,16}engel',
    ],
    ja: ['(?:裁判所|法令|当局)[^。]{0,30}(?:命令|要請|により|基づ)[^。]{0,30}(?:ブロック|遮断|アクセス|閲覧)'],
    zh: [
      '(?:根据|依据|依據|按照)[^。]{0,30}(?:法律|法规|法規|法院|法令|监管|主管机关|主管機關)[^。]{0,30}(?:无法|無法|不予|屏蔽|封锁|封鎖|停止解析|限制|访问)',
    ],
    ko: [
      '(?:불법|유해)[^.]{0,40}(?:사이트|정보|내용)[^.]{0,40}(?:차단|접속)',
      '(?:방송통신심의위원회|방송미디어통신심의위원회)[^.]{0,60}(?:차단|심의)',
    ],
    ar: [
      '(?:تم )?(?:حجب|حظر)[^.]{0,60}(?:هيئة|قانون|القوانين|أنظمة|محكمة|سلطات|وزارة|الدولة)',
      '(?:الموقع|المحتوى|الصفحة|الوصول)[^.]{0,40}(?:محجوب|محظور)[^.]{0,60}(?:قانون|القوانين|أنظمة|هيئة|لأن|المملكة|الإمارات|دولة)',
    ],
    others: [
      'internet positif|trustpositif|trust positif|(?:situs|konten)[^.]{0,60}(?:diblokir|tidak dapat diakses)[^.]{0,80}(?:kominfo|komdigi|kementerian|peraturan|perundang|pemerintah)|(?:peraturan|perundang\\w{0,6}|kementerian|kominfo|komdigi)[^.]{0,80}(?:diblokir|pemblokiran|memblokir)',
      '(?:blokeret|blokerede|spærret|spærrede)[^.]{0,80}(?:retten|dom\\b|fogedret|kendelse|myndighed|politi|spillemyndighed|domstol)|(?:fogedret|domstol|retten|byret)\\w{0,3}[^.]{0,60}(?:blokere|spærre)',
      '(?:blockera|spärra|blokker|sperre)\\w{0,2}[^.]{0,80}(?:domstol|tingsrätt|tingrett|myndighe|polis|politi|dom\\b)|(?:domstol|tingsrätt|tingrett|lotteritilsyn)\\w{0,3}[^.]{0,60}(?:blocker|blokker|spärr|sperr)',
      '(?:estetty|esto)\\w{0,3}[^.]{0,60}(?:markkinaoikeu|tuomioistui|viranomai|keskusrikospoliis)|(?:markkinaoikeu|tuomioistui)\\w{0,4}[^.]{0,60}(?:estä|esto|määräy)',
      '(?:stránk|přístup|web)\\w{0,3}[^.]{0,60}(?:blokován|zablokován|znepřístupněn)\\w{0,2}[^.]{0,80}(?:zákon|ministerst|soud|rozhodnut|úřad)|(?:weboldal|honlap|tartalom|hozzáférés)\\w{0,3}[^.]{0,60}(?:letilt|blokkol|hozzáférhetetlen)[^.]{0,80}(?:bíróság|hatóság|határozat|nmhh|szabályozott)',
      '(?:site|acces)\\w{0,3}[^.]{0,60}(?:blocat|restricționat)[^.]{0,80}(?:oficiul|autorit|hotărâ|decizi|instanț|onjn)|(?:заблоковано|обмежено|доступ)[^.]{0,60}(?:указ|рішенн|рнбо|закон)\\w{0,3}',
      '(?:ιστοσελίδα|ιστότοπος|πρόσβαση)[^.]{0,60}(?:αποκλε|απαγορ|διακοπ)[^.]{0,80}(?:απόφαση|εεεπ|επιτροπή|δικαστ|νόμ)|(?:האתר|הגישה)[^.]{0,60}(?:חסו|נחסמ)[^.]{0,60}(?:צו|בית המשפט|משטרה|חוק)|(?:trang|website)[^.]{0,60}(?:bị chặn|ngăn chặn)[^.]{0,60}(?:cơ quan|quy định|pháp luật)|(?:ระงับ|ปิดกั้น)[^.]{0,40}(?:คำสั่งศาล|กระทรวง|พระราชบัญญัติ)',
      '(?:न्यायालय|अदालत|सरकार|दूरसंचार विभाग)[^.]{0,60}(?:अवरुद्ध|ब्लॉक|प्रतिबंध)',
    ],
  }),
  titleLetters: 700,
  textLetters: 700,
  isReason: true,
  isImpersonal: true,
};
