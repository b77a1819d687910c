/** "Page not found" in the languages of the web. */
import { anyOf, type PhraseRule, whole } from './phrase-rule.ts';

/** A gap of a few words inside a sentence. */
const GAP = '[^.!?。]{0,60}';
const EN_THING =
  '\\b(?:page|web ?page|url|resource|file|document|article|address|content|item|product|listing|job|posting|post|video|profile|link|screen|offer|ad|site|route|path|object|event|story|thread|topic|account|user|recipe)\\b';

const SAYS = {
  en: [
    `${EN_THING}${GAP}(?:\\bnot (?:be )?(?:found|located)|\\b(?:does not|doesn't|do not|don't|did not|didn't) (?:seem to )?exist|\\bno longer (?:exists?|available|here|active|online|valid|open|in our)|\\b(?:isn't|is not|aren't|not) (?:here|available\\b(?! (?:in|for) your))|\\b(?:has|have|was|were) (?:been |be )?(?:permanently )?(?:moved|removed|deleted|expired|gone\\b|taken down|discontinued|withdrawn)|\\b(?:can't|cannot|can not|could not|couldn't) be (?:found|located)|\\bwent missing|\\bis (?:missing|gone)\\b)`,
    `(?<!\\bif you )\\b(?:can't|cannot|can not|couldn't|could not|unable to|didn't|did not|not able to) (?:seem to )?(?:find|locate)\\b[^.!?]{0,40}(?:${EN_THING}|\\byou|\\bthat\\b)`,
    '\\bnothing (?:was |is |to be )?(?:found |here|at this)',
    '\\bno such (?:page|file|address|document|article)',
    '\\blink (?:leads|goes) nowhere',
    '^(?:error )?404\\b',
    '\\bthat page is gone',
    'http 404\\b',
  ],
  de: [
    `(?:seite|url|adresse|datei|ressource|dokument|artikel|inhalt|produkt|angebot|stelle|anzeige|beitrag)${GAP}(?:nicht gefunden|nicht (?:mehr )?(?:existier|verfügbar|vorhanden|auffindbar|finden|da\\b)|existiert nicht|gibt (?:es|'s) (?:hier )?(?:leider )?(?:nicht|keine)|wurde (?:gelöscht|entfernt|verschoben))`,
    `(?:nicht|keine) (?:gefunden|finden)${GAP}seite`,
    'seite nicht gefunden',
    `(?:konnten?|können) (?:wir )?${GAP}(?:seite|inhalt)${GAP}nicht finden`,
  ],
  fr: [
    `(?:page|ressource|adresse|fichier|document|article|annonce|contenu|produit|offre|url|lien)${GAP}(?:introuvable|n'existe (?:pas|plus)|n'a (?:pas )?(?:pu être|été) (?:trouv|localis)|n'a pas été trouv|non trouv|pas (?:été )?trouv|n'est (?:plus|pas) (?:disponible|en ligne)|a été (?:supprim|déplac|retir))`,
    `(?:impossible de|ne (?:parvenons|pouvons) pas à?|n'avons pas) (?:trouv)${GAP}page`,
  ],
  es: [
    `(?:página|recurso|archivo|documento|artículo|contenido|dirección|producto|anuncio|oferta|enlace|sitio)${GAP}(?:no (?:se |ha |fue |pudo )?(?:se )?(?:ha |pudo |puede )?(?:sido |podido |ser )?(?:encontr|encuentra|existe|localiz|hallad)|ya no (?:existe|está)|no está (?:ya )?disponible|inexistente|(?:ha sido |fue )(?:elimin|borrad))`,
    `no (?:hemos |se )?(?:pudimos|pudo|podemos|ha podido|encontramos|encontrado)${GAP}página`,
    '^no encontrad[oa]',
  ],
  pt: [
    `(?:página|recurso|arquivo|ficheiro|documento|conteúdo|artigo|endereço|anúncio|produto|vaga|link)${GAP}(?:não (?:foi |pôde |pode )?(?:ser )?(?:encontrad|existe|localizad)|já não (?:existe|está)|não está (?:mais )?disponível|inexistente|(?:foi )?(?:removid|excluíd|apagad))`,
    `não (?:conseguimos |foi possível |pudemos )?(?:encontr|localiz)${GAP}página`,
  ],
  it: [
    `(?:pagina|risorsa|file|documento|contenuto|articolo|indirizzo|annuncio|prodotto|sito)${GAP}(?:non (?:è (?:stat[oa] )?)?(?:trovat|esist|più disponibile|disponibile|più online)|inesistente|introvabile|(?:è stat[oa] )(?:rimoss|eliminat|spostat))`,
    `(?:impossibile|non riusciamo a|non abbiamo) trova${GAP}pagina`,
  ],
  nl: [
    `(?:pagina|bestand|artikel|document|adres|product|vacature|inhoud|link)${GAP}(?:niet (?:meer )?(?:worden |kunnen )?(?:gevonden|vinden|bestaa|beschikbaar)|bestaat niet|(?:is|werd) (?:verwijderd|verplaatst))`,
    `(?:kunnen|konden)${GAP}pagina${GAP}niet vinden`,
  ],
  pl: [
    `(?:stron|zas[oó]b|plik|artykuł|dokument|adres|ogłoszeni|ofert|treś)${GAP}(?:nie (?:została |został |zostało )?(?:znalezion|istnieje|odnalezion|jest (?:już )?dostępn)|(?:została |został |zostało )usunię)`,
    `nie (?:znaleziono|można znaleźć|możemy znaleźć|udało się znaleźć)${GAP}(?:stron|zasob|plik|adres)`,
  ],
  ru: [
    `(?:страниц|ресурс|файл|документ|запис|объявлени|материал|адрес|контент|товар)${GAP}(?:не (?:был[аио]? )?(?:найден|существует|обнаружен|доступн)|был[аио]? (?:удал[её]н|перемещ)|больше не|удал[её]н)`,
    `(?:не найден|не удалось найти|нет так|не можем найти)${GAP}(?:страниц|файл|адрес|ресурс)`,
  ],
  tr: [
    `(?:sayfa|dosya|içerik|kaynak|adres|ilan|ürün|bağlantı)${GAP}(?:bulunama|bulamad|mevcut değil|artık yok|kaldırıl|silin|taşın)`,
  ],
  ja: [
    '(?:ページ|ファイル|url|記事|リソース|コンテンツ|サイト|求人|商品|アドレス)[^。]{0,40}(?:見つかりません|見つけられません|見つかりませんでした|存在しません|存在しない|ありません|ございません|削除され|移動し|終了しました|掲載は終了)',
  ],
  zh: [
    '(?:页面|网页|頁面|網頁|文章|内容|內容|文件|资源|資源|链接|連結|商品|职位|地址|网址)[^。]{0,20}(?:不存在|未找到|找不到|没有找到|沒有找到|已经?(?:被)?(?:删除|刪除|移除|下架)|已失效|无法找到|無法找到|走丢)',
    '(?:找不到|未找到|无法找到|没有找到|無法找到|沒有找到)[^。]{0,20}(?:页|頁|内容|內容|文件|资源)',
  ],
  ko: [
    '(?:페이지|파일|문서|주소|게시물|게시글|콘텐츠|상품|공고)[^.]{0,40}(?:찾을 수 없|찾지 못|존재하지 않|없습니다|없는|삭제되|삭제된)',
  ],
  ar: [
    '(?:الصفحة|الملف|المحتوى|الرابط|المقال|صفحة)[^.]{0,50}(?:غير موجود|لم يتم العثور|غير متاح|غير متوفر|لا توجد|تعذر العثور|ليست موجودة|لم نجد)',
    '(?:لم يتم العثور|تعذر العثور|لا يمكن العثور|لم نتمكن من العثور|لم نعثر)[^.]{0,40}(?:صفحة|المحتوى|الملف)',
  ],
  others: [
    'sidan (?:kunde inte hittas|finns inte|hittades inte|du letar)',
    '(?:siden|side) (?:blev ikke|kunne ikke|ble ikke|findes ikke|finnes ikke|eksisterer ikke)',
    'strán(?:ka|ku)[^.]{0,40}(?:nenalezen|neexistuje|nebyla|nenašla|nepodařilo)',
    'siv(?:ua|u) ei (?:löyt|ole)',
    'сторінк[^.]{0,40}не (?:знайден|існує)',
    'pagin[aă][^.]{0,40}nu (?:a fost g[aă]sit|exist)',
    'oldal[^.]{0,40}nem (?:található|létezik)',
    'σελίδα[^.]{0,40}δεν (?:βρέθηκε|υπάρχει)',
    'halaman[^.]{0,40}tidak (?:ditemukan|ada)',
    '(?:không tìm thấy)[^.]{0,20}trang|trang[^.]{0,40}không (?:tồn tại|tìm thấy)',
    '(?:הדף|העמוד)[^.]{0,40}לא (?:נמצא|קיים)',
    'पेज[^.]{0,20}नहीं मिला|पृष्ठ[^.]{0,20}नहीं मिला',
    'ไม่พบ(?:หน้า|เพจ)',
  ],
};

const NAMES = {
  codes: [
    '(?:error|http|erreur|fehler|erro|errore|fout|błąd|ошибка|hata|エラー|错误)?[ :#-]*(?:404|410)(?:[ :!,-]*(?:error|page|not found|erreur|fehler|gone|錯誤|错误|エラー|오류))?',
  ],
  en: [
    '(?:404[ :,-]*)?(?:page |file |resource |content )?not found(?: page)?',
    'no longer available',
    'gone',
    '(?:this )?page unavailable',
    'missing page',
    'page missing',
    'dead link',
    'lost\\?',
  ],
  de: ['nicht gefunden'],
  fr: ['introuvable', 'non trouvée?', 'page non trouvée'],
  es: ['no encontrad[oa]', 'página no encontrada'],
  pt: ['não encontrad[oa]', 'página não encontrada'],
  it: ['non trovat[oa]', 'pagina non trovata'],
  nl: ['niet gevonden'],
  pl: ['nie znaleziono'],
  ru: ['не найден[ао]?'],
  tr: ['bulunamadı'],
  ja: ['見つかりません(?:でした)?', 'お探しのページ[^。]{0,20}'],
  zh: ['未找到', '找不到页面', '页面走丢了'],
  ko: ['찾을 수 없(?:음|습니다)'],
  ar: ['غير موجودة?'],
};

export const NOT_FOUND: PhraseRule = {
  kind: 'not-found',
  source: 'https://www.rfc-editor.org/rfc/rfc9110#section-15.5.5',
  says: anyOf(SAYS),
  names: whole(NAMES),
  titleLetters: 900,
  textLetters: 260,
};
