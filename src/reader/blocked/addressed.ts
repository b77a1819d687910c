/**
 * Whether a text speaks to its visitor, as pages in place of content do: second person, requests, apologies, and the
 * site as "we". Nouns such as "page" or "server" do not count, because articles about such pages have them too.
 */

const WORDS: Readonly<Record<string, string>> = {
  en: "you|your|you're|you've|yours|we|we're|we'll|we've|our|let us|i (?:am|understand|wish|agree|accept)|i'm|please|sorry|apologi[sz]e|apologies|oops|whoops|uh oh|try again|retry|again later|later|come back|check back|go back|back to|return to|home ?page|contact|click|refresh|reload|log in|sign in|subscribe|enable|disable|turn on|stay tuned|perhaps|maybe|thank|thanks|try|browse|explore|visit|search for|use the|check the|start over|go to|buy now|make an offer|wait|hold on|redirecting|redirected|this (?:page|url|link|request|site|website|domain|server|account|store|app|address)|the requested|requested url|administrator|webmaster",
  de: 'sie|ihr|ihre|ihren|ihrer|ihrem|ihnen|du|dein|deine|deinen|deiner|deinem|dich|dir|bitte|leider|wir|uns|unser|unsere|unserer|unseren|entschuldigung|entschuldigen|hoppla|ups|startseite|jetzt kaufen|zurück|diese (?:seite|website|webseite|domain)|dieser (?:server|artikel|inhalt)|die angeforderte',
  fr: "vous|votre|vos|tu|ton|nous|notre|nos|veuillez|merci|désolés?|désolée|navrés?|oups|réessayez|réessayer|retour|retournez|accueil|patientez|patienter|s'il vous plaît|cette (?:page|url)|ce (?:site|lien|domaine|contenu|service)|la page demandée",
  es: 'si cree|si crees|póngase|ponte|pulse|pulsa|haga|haz clic|usted|su|sus|tu|tus|te|le|por favor|lo sentimos|lo siento|perdona|disculpe|disculpa|disculpas|vaya|ups|vuelva|vuelve|volver|inicio|inténtelo|inténtalo|intente|intenta|nuestro|nuestra|nuestros|nuestras|espere|espera|gracias|esta (?:página|web)|este (?:sitio|enlace|dominio|contenido|servicio)|estamos|comprar|contacte|contacta',
  pt: 'você|seu|sua|seus|suas|teu|tua|por favor|desculpe|desculpa|lamentamos|ops|tente|tenta|volte|volta|voltar|início|nosso|nossa|nossos|nossas|aguarde|obrigad[oa]|esta (?:página|url)|este (?:site|domínio|conteúdo|serviço)|estamos',
  it: 'tuo|tua|tuoi|suo|sua|ti|vi|vostro|vostra|lei|siamo|ci scusiamo|spiacenti|scusa|scusate|ops|riprova|riprovare|riprovate|nostro|nostra|nostri|nostre|torna|tornare|attendi|attendere|attendete|grazie|prego|per favore|questa pagina|questo (?:sito|dominio|contenuto|servizio)|stai|puoi|acquista',
  nl: 'u|uw|je|jij|jouw|jou|wij|we|onze|ons|probeer|helaas|excuses|sorry|oeps|alstublieft|alsjeblieft|terug|homepage|deze (?:pagina|website|site|domeinnaam|link)|dit (?:artikel|domein)',
  pl: 'zaloguj|klikając|wyrażasz|masz|ty|ci|cię|ciebie|twój|twoja|twoje|twojego|twoim|państwa|państwo|pan|prosimy|proszę|przepraszamy|niestety|spróbuj|wróć|powrót|nasz|nasza|nasze|naszej|zapraszamy|dziękujemy|możesz|jesteś|kup teraz|złóż ofertę|ups|ta (?:strona|domena)|serwis|strona (?:chwilowo|tymczasowo|jest)|trwają|wracamy|wrócimy|za utrudnienia|ten (?:serwis|link)',
  sv: 'logga in|legitimera|du|dig|din|ditt|dina|ni|er|vi|oss|vår|vårt|våra|vänligen|tyvärr|ursäkta|hoppsan|försök|tillbaka|startsidan|tack|den här (?:sidan|domänen)',
  da: 'log ind|log på|logg inn|du|dig|din|dit|dine|vi|os|vores|vor|venligst|desværre|undskyld|beklager|vennligst|dessverre|ups|oi|prøv|tilbage|tilbake|forsiden|denne (?:side|siden|domæne)',
  fi: 'meidät|meille|meihin|kotisivumme|sivumme|kirjaudu|tunnistaudu|jatkaaksesi|pyytämäsi|sinun|sinulla|olet|et|ole hyvä|pahoittelemme|valitettavasti|anteeksi|yritä|yrittäkää|palaa|voit|etsimääsi|hakemaasi|sivustomme|tämä (?:sivu|sivusto)',
  cs: 'přihlaste|nahrajte|vás|vám|váš|vaše|vaši|vašeho|prosím|prosíme|omlouváme|bohužel|litujeme|zkuste|můžete|jste|naše|náš|zpět|tato (?:stránka|doména)',
  hu: 'ön|elmúltál|elmúltam|önnek|kérjük|kérem|sajnáljuk|sajnos|elnézést|próbálja|próbáld|vissza|köszönjük|ez az oldal',
  ro: 'vă|dvs|dumneavoastră|rugăm|ne pare rău|din păcate|scuze|încercați|încearcă|reveniți|înapoi|nostru|noastră|această pagină',
  ru: 'войдите|авторизуйтесь|уважаем\\S{2}|абонент\\S{0,2}|вы|вас|вам|ваш|ваша|ваше|вашего|вашей|вашем|ваши|мы|нас|наш|наша|наше|нашего|нашей|пожалуйста|извините|простите|приносим|к сожалению|попробуйте|повторите|вернитесь|вернуться|обратитесь|подождите|ой|упс|эта страница|этот (?:сайт|домен)|данный (?:сайт|домен)|сайт|домен|данная страница|такой страницы|запрашиваем\\S{0,4}',
  uk: 'ви|вас|вам|ваш|ваша|ваше|вашого|ми|наш|наша|вибачте|вибачайте|перепрошуємо|будь ласка|на жаль|спробуйте|поверніться',
  tr: 'siz|sizin|size|sizi|lütfen|üzgünüz|maalesef|özür|sayfamız|sitemiz|tekrar dene\\S{0,8}|deneyin\\S{0,4}|daha sonra|anasayfa\\S{0,3}|ana sayfa\\S{0,3}|aradığınız|istediğiniz|adresiniz|isteğiniz|bu (?:sayfa|site|alan adı|içerik)',
  id: 'anda|sila|harap|kamu|maaf|silakan|mohon|kami|coba|kembali',
  vi: 'bạn|quý khách|vui lòng|xin lỗi|rất tiếc|chúng tôi|hãy|trang này',
  el: 'σας|ζητούμε συγγνώμη|επιστρέψτε|ελέγξτε|μας|παρακαλούμε|παρακαλώ|λυπούμαστε|δοκιμάστε|συγγνώμη',
  ar: 'يرجى|الرجاء|رجاء|عذرا|عذرًا|عفوا|عفوًا|نأسف|نعتذر|لديك|يمكنك|لك|أنت|أنك|نحن|موقعنا|حسابك|متصفحك|بلدك|منطقتك|جهازك|المحاولة|العودة|هذه الصفحة|هذا الموقع',
  he: 'אנא|נא|שלנו|רעננו|הזינו|מצטערים|סליחה|אופס|באפשרותך|נסו|נסה|לנסות|אתה|אתם|שלך|שלכם|לחזור|חזרה|שחיפשת\\S{0,3}',
  hi: 'कृपया|आप|आपका|आपके|आपकी|आपको|क्षमा|हम|हमें|खेद',
  sk: 'váš|vašu|vašej|vám|prosím|prosíme|ospravedlňujeme|ľutujeme|bohužiaľ|skúste|môžete|vráťte|naša|náš|táto stránka',
  bg: 'вие|имате|имате ли|вас|ваш\\S{0,4}|моля|съжаляваме|извинете|извиняваме|опитайте|нашия\\S{0,2}|върнете',
  hr: 'imate|имате|vaš\\S{0,3}|vam|vas|molimo|žao|nažalost|pokušajte|možete|naša|naš|vratite|hvala|ova stranica|ваш\\S{0,3}|молимо|жао|нажалост|покушајте|можете|хвала',
  sl: 'ste|vaš\\S{0,3}|vam|prosimo|žal|oprostite|poskusite|lahko|naša|naš|vrnite|opravičujemo',
  lt: 'jūs|jums|jūsų|prašome|atsiprašome|deja|bandykite|pabandykite|mūsų|galite|grįžkite',
  lv: 'jūs|jums|jūsu|lūdzu|atvainojamies|diemžēl|mēģiniet|mūsu|varat|atgriezieties',
  et: 'teie|oled|olete|sinu|palun|vabandame|vabandust|kahjuks|proovige|meie|saate|tagasi',
  ca: 'vostè|vosaltres|el teu|la teva|el vostre|si us plau|ho sentim|disculpeu|torna|proveu|nostre|nostra',
  fa: 'شما|لطفا|لطفاً|متاسفانه|متأسفیم|متأسفانه|پوزش|ما|دوباره',
  bn: 'আপনি|আপনার|অনুগ্রহ|দুঃখিত|আমরা|আমাদের',
  ta: 'நீங்கள்|உங்கள்|தயவுசெய்து|மன்னிக்கவும்|எங்கள்',
};
const ADDRESS = new RegExp(`(?<![\\p{L}\\p{N}])(?:${Object.values(WORDS).join('|')})(?![\\p{L}\\p{N}])`, 'u');
/** Languages without spaces between words, or with endings on them. */
const PARTS =
  /ください|下さい|お持ち|ご利用|ご覧|ただいま|サービスです|会員の方|お客様|お客さま|あなた|お探し|申し訳|恐れ入り|お手数|お待ち|ございません|すみません|ごめん|当サイト|弊社|トップページ|戻る|いただけません|您|你|请|請|抱歉|对不起|對不起|返回|稍后|稍後|我们|我們|刷新|首页|首頁|本站|本页|되었거나|됐거나|알려드립니다|오니|주세요|바랍니다|십시오|하세요|귀하|죄송|고객님|회원님|찾으시는|요청하신|이용해|돌아가|กรุณา|โปรด|ขออภัย|คุณ|ท่าน/;

export const isAddressed = (text: string): boolean => PARTS.test(text) || ADDRESS.test(text);
