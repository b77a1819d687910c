/**
 * Whether a text speaks to its visitor, or about the site, as pages in place of content do. Texts in scripts without an
 * alphabet of their own words here count as such.
 */

const WORDS: Readonly<Record<string, string>> = {
  en: "you|your|you're|we|we're|we'll|our|us|please|sorry|oops|again|later|soon|shortly|wait|moment|site|website|page|browser|server|url|link|request|requests|administrator|webmaster|access|ip|robot|human|captcha|javascript|cookies|error|domain|service|redirect|continue|try|search|back|perhaps|maybe|homepage|looking|owner",
  de: 'sie|ihr|ihre|ihren|ihrer|du|dein|deine|dich|bitte|leider|wir|unser|unsere|seite|webseite|website|später|erneut|zurück|anfrage|zugriff|fehler|weiter',
  fr: 'vous|votre|vos|nous|notre|veuillez|désolé|désolés|site|page|réessayez|réessayer|retour|accès|erreur|instant|patienter',
  es: 'usted|su|tu|tus|te|por favor|lo sentimos|perdona|página|sitio|web|vuelva|vuelve|inténtelo|inténtalo|nuestro|nuestra|error|acceso|espere',
  pt: 'você|seu|sua|por favor|desculpe|lamentamos|página|site|tente|nosso|nossa|erro|acesso|aguarde',
  it: 'tuo|tua|suo|ti|siamo|spiacenti|pagina|sito|riprova|riprovare|nostro|nostra|errore|accesso|attendi|attendere',
  nl: 'u|uw|je|jouw|wij|we|onze|ons|pagina|site|website|probeer|helaas|fout|toegang',
  pl: 'twój|twoja|twoje|ciebie|proszę|przepraszamy|strona|stronę|strony|spróbuj|nasz|nasza|serwis|błąd|dostęp|zapraszamy',
  ru: 'вы|вас|вам|ваш|ваша|ваше|мы|наш|наша|пожалуйста|извините|страница|страницу|сайт|сайта|попробуйте|позже|доступ|ошибка',
  tr: 'siz|sizin|lütfen|üzgünüz|sayfa|sayfayı|site|sitemiz|tekrar|sonra|hata|erişim',
};
const ADDRESS = new RegExp(`(?<![\\p{L}\\p{N}])(?:${Object.values(WORDS).join('|')})(?![\\p{L}\\p{N}])`, 'u');
const OTHER_SCRIPTS = /[\u0370-\u03ff\u0590-\u1fff\u2e80-\ud7ff]/;

export const isAddressed = (text: string): boolean => OTHER_SCRIPTS.test(text) || ADDRESS.test(text);
