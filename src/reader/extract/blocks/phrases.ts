/**
 * Recognizes short texts around the content by their words, in English and other common languages. One word proves
 * nothing: it is only one feature among many.
 */

import { createWordReader } from './word-reader.ts';

export const PHRASES = [
  'share',
  'talk',
  'related',
  'legal',
  'join',
  'go',
  'advert',
  'byline',
  'shop',
  'media',
  'review',
  'facts',
  'member',
] as const;
type Phrase = (typeof PHRASES)[number];

/** Mask of phrases, for `Block.phrases`. */
export const phraseMask = (...phrases: Phrase[]): number =>
  phrases.reduce((mask, phrase) => mask | (1 << PHRASES.indexOf(phrase)), 0);

const WORDS: Record<Phrase, string> = {
  share: `share tweet facebook twitter whatsapp linkedin pinterest instagram reddit telegram youtube follow email
    print teilen drucken partager compartir condividi delen udostępnij copy tiktok rss dela del sdílet paylaş
    поделиться compartilhar enviar envoyer imprimer imprimir stampa afdrukken drukuj skriv folgen suivre seguir
    segui volg obserwuj kopieren copier copiar copia link bluesky mastodon viber vk`,
  talk: `comment comments reply replies kommentar kommentare antworten commentaire commentaires répondre comentario
    comentarios responder commenti rispondi reactie reacties komentarz komentarze likes upvote report quote
    conversation discussion answer answers vote votes thanks reactions resposta respuestas risposte reageer
    odpowiedz odpowiedzi svara svar kommentarer kommenter komentáře odpovědět yorum yanıtla комментарии
    комментарий ответить ответы citar citer zitieren cytuj citeer danke merci gracias obrigado gefällt citeren
    quoting noter nützlich helpful like`,
  related: `related recommended recommend also trending latest popular similar more ähnliche ähnlich auch voir aussi
    relacionados relacionadas relacionado leggi anche lees recent recently viewed suggested meistgelesen editors
    picks stories featured most next lire passend empfehlungen empfohlen beliebt neueste interessieren dernières
    populaires similaires conseillons recommandés semblables también interesarte similares destacados últimas
    mais lidas gostar consigliati simili ultime notizie gerelateerd aanbevolen vergelijkbare bekeken podobne
    polecane najnowsze popularne relaterade liknande mest lästa relaterede lignende související podobné
    doporučujeme ilgili benzer önerilen похожие рекомендуем читайте также новости популярное recommendations
    plus`,
  legal: `© copyright rights reserved privacy terms cookies cookie impressum datenschutz disclaimer mentions légales
    aviso powered gdpr agb contact about conditions policy accessibility sitemap careers advertise imprint
    consent accept contacto kontakt rechte vorbehalten allgemeine geschäftsbedingungen widerruf droits réservés
    politique confidentialité générales derechos reservados privacidad términos diritti riservati informativa
    direitos termos política alle rechten voorbehouden voorwaarden prawa zastrzeżone polityka prywatności
    regulamin rättigheter integritetspolicy villkor práva vyhrazena podmínky hakları saklıdır gizlilik права
    защищены политика конфиденциальности`,
  join: `subscribe subscription newsletter sign signup login log register account join inbox mail abonnieren anmelden
    registrieren inscription inscrire suscríbete iscriviti inschrijven zapisz trial started download member
    members password email anmeldung konto abonnez connexion regístrate suscribirse cuenta iniciar sesión accedi
    registrati abbonati assine entrar cadastre aanmelden inloggen zaloguj zarejestruj konto prenumerera logga
    bli medlem tilmeld přihlásit registrace üye giriş подписаться войти регистрация вход correo free app`,
  go: `read continue reading learn view see all show less load previous prev back skip home menu search close
    toggle weiterlesen zurück weiter mehr lire suite suivant précédent leer más siguiente anterior leggi meer
    czytaj click jump expand collapse filter sort page top open hide browse explore anzeigen ansehen suchen
    schließen öffnen filtern sortieren voir afficher recherche fermer retour trier mostrar buscar cerrar volver
    filtrar ordenar vedi tutti mostra cerca chiudi indietro filtra ordina fechar voltar pesquisar alles sluiten
    zoeken terug filteren zobacz wszystkie pokaż szukaj zamknij wróć sortuj visa alla sök stäng tillbaka sortera
    søg luk zobrazit vše hledat zavřít zpět tümü göster kapat показать все найти закрыть назад фильтр
    сортировать далее`,
  advert: `advertisement advertising sponsored promoted anzeige werbung publicité publicidad pubblicità advertentie
    reklama affiliate ad ads partner`,
  byline: `by von par por posted published updated modified written author veröffentlicht publié publicado ago min
    minutes filed under tags tagged tag category categories joined location posts january february march april
    may june july august september october november december jan feb mar apr jun jul aug sep oct nov dec monday
    tuesday wednesday thursday friday saturday sunday januar februar märz juni juli dezember uhr pm edited
    editor staff writer reporter aktualisiert autor geschrieben rédigé actualizado escrito pubblicato aggiornato
    scritto atualizado gepubliceerd bijgewerkt geschreven opublikowano zaktualizowano publicerad uppdaterad
    publiceret publikováno yayınlandı опубликовано обновлено автор janvier février mars avril mai juin juillet
    août septembre octobre novembre décembre enero febrero marzo abril mayo junio julio agosto septiembre
    octubre noviembre diciembre gennaio febbraio aprile maggio giugno luglio settembre ottobre dicembre janeiro
    fevereiro março maio junho julho setembro outubro dezembro januari februari maart mei augustus oktober
    stycznia lutego marca kwietnia maja czerwca lipca sierpnia września października listopada grudnia am`,
  shop: `cart bag basket wishlist compare buy shipping checkout quantity qty price sale warenkorb panier carrito
    carrello review reviews rating ratings star stars add delivery returns size color save off kaufen lieferung
    lieferzeit lager verfügbar merkzettel menge größe farbe mwst versand preis ajouter livraison quantité taille
    couleur prix añadir cesta envío disponible cantidad talla precio agotado aggiungi spedizione disponibile
    quantità taglia prezzo adicionar carrinho entrega disponível quantidade tamanho cor preço toevoegen
    winkelmand winkelwagen levering voorraad aantal maat kleur prijs dodaj koszyka dostawa dostępny ilość
    rozmiar cena lägg varukorg leverans lager antal storlek pris kurv levering přidat košíku skladem doprava
    množství sepete ekle stokta kargo fiyat купить корзину доставка наличии цена количество stock`,
  media: `photo photos image images picture video watch listen play gallery getty reuters afp ap foto bild credit
    courtesy slideshow enlarge screenshot caption figure fotos bilder vidéo vídeo galerie galleria galería
    afbeelding zdjęcie obraz bildquelle crédit crédito écouter ver`,
  review: `review reviews reviewed reviewer rating ratings rated stars testimonials bewertung bewertungen rezension
    rezensionen kundenmeinungen évaluations opiniones opinión reseñas valoraciones recensioni recensione
    valutazioni avaliações avaliação opiniões beoordelingen beoordeling opinie ocena recenzje recensioner
    omdömen anmeldelser hodnocení recenze yorumlar değerlendirme отзывы отзыв verified customer avis`,
  facts: `description details detail specifications specification specs features ingredients dimensions materials
    material includes included overview technical product information beschreibung produktbeschreibung
    eigenschaften technische daten maße gewicht zutaten lieferumfang caractéristiques descripción
    características especificaciones medidas ingredientes descrizione caratteristiche specifiche dimensioni
    ingredienti descrição especificações beschrijving productinformatie specificaties kenmerken afmetingen opis
    specyfikacja cechy wymiary waga skład beskrivning egenskaper beskrivelse popis parametry rozměry açıklama
    özellikler описание характеристики размеры состав вес weight poids peso`,
  member: `joined member registered rank reputation online offline moderator administrator beiträge registriert
    mitglied wohnort benutzer gast inscrit membre localisation sujets mensajes registrado miembro ubicación
    messaggi iscritto utente mensagens registado membro berichten geregistreerd postów dołączył użytkownik posty
    inlägg medlem indlæg příspěvky mesaj kayıt сообщений сообщения регистрация пользователь откуда участник
    location posts topics`,
};

/**
 * Phrases in languages that do not separate words, or that join them to other words. They are matched anywhere in the
 * text.
 */
const SUBSTRINGS: Partial<Record<Phrase, string>> = {
  share: 'シェア 共有 分享 공유 مشاركة',
  talk: 'コメント 返信 いいね 引用 评论 評論 回复 回復 留言 点赞 댓글 답글 좋아요 تعليق',
  related: '関連 おすすめ 人気 ランキング 新着 最新記事 あわせて 相关 相關 推荐 推薦 热门 猜你喜欢 최근 인기 추천 관련',
  legal: '著作権 無断 利用規約 プライバシー 特定商取引 版权 版權 隐私 条款 备案 저작권 이용약관 개인정보 حقوق',
  join: '会員登録 ログイン メルマガ 登录 登入 注册 註冊 订阅 회원가입 로그인 구독 تسجيل',
  go: '続きを読む もっと見る 一覧 戻る 次へ 前へ 検索 絞り込み 並び替え 查看 更多 返回 下一页 上一页 搜索 筛选 排序 더보기 목록 검색 이전 다음 المزيد',
  byline: '投稿日 更新日 公開日 発行 作者 发布 發佈 时间 来源 작성일 등록일 기자',
  shop: 'カート お気に入り 数量 送料 在庫 税込 购物车 購物車 收藏 数量 库存 运费 立即购买 장바구니 수량 배송 품절 السلة',
  media: '写真 画像 動画 图片 视频 사진 영상 صورة',
  review: 'レビュー 口コミ 評価 评价 評價 评分 후기 리뷰 평점 تقييم',
  facts: '商品説明 仕様 特徴 サイズ 素材 商品详情 规格 参数 材质 详情 상품정보 상세정보 규격 소재 المواصفات',
  member: '登録日 投稿数 会員 注册时间 发帖 积分 帖子 等级 가입 회원 عضو',
};

const MASKS = new Map<string, number>();
const MAX_CHARACTERS = 160;
const PRICE = /[$€£¥₹₽₩₺]\s?\d|\d\s?(?:[$€£¥₹₽₩₺元円]|zł|kr\b|Kč|руб|EUR\b|USD\b|CHF\b|TL\b)/;
const SHOP = phraseMask('shop');

function masks(): Map<string, number> {
  if (MASKS.size > 0) return MASKS;
  for (const [at, phrase] of PHRASES.entries()) {
    for (const word of WORDS[phrase].split(/\s+/)) MASKS.set(word, (MASKS.get(word) ?? 0) | (1 << at));
  }
  return MASKS;
}

const MAY_HAVE_SUBSTRINGS = /[\u0600-\u06ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]/;
const SUBSTRING_BITS: [piece: string, bit: number][] = [];

function substringBits(): typeof SUBSTRING_BITS {
  if (SUBSTRING_BITS.length > 0) return SUBSTRING_BITS;
  for (const [at, phrase] of PHRASES.entries()) {
    for (const piece of SUBSTRINGS[phrase]?.split(' ') ?? []) SUBSTRING_BITS.push([piece, 1 << at]);
  }
  return SUBSTRING_BITS;
}

const readWords = createWordReader((word) => masks().get(word) ?? 0, {
  camelCase: false,
  maxCharacters: MAX_CHARACTERS,
  words: () => masks().keys(),
});

/**
 * A mask of the possible purposes of a short text, with the bit `1 << index` for each of PHRASES; 0 for texts over 160
 * characters. A text without digits cannot contain a price.
 */
export function readPhrases(text: string, hasDigits = true): number {
  if (text.length > MAX_CHARACTERS) return 0;
  let mask = readWords(text);
  if (MAY_HAVE_SUBSTRINGS.test(text)) {
    for (const [piece, bit] of substringBits()) if (text.includes(piece)) mask |= bit;
  }
  if (hasDigits && PRICE.test(text)) mask |= SHOP;
  return mask;
}

/** Whether a short text contains a price. */
export const hasPrice = (text: string): boolean => text.length <= MAX_CHARACTERS && PRICE.test(text);
