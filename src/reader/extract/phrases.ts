/**
 * Short texts that pages put around their content, told by the words in them: what each such word is used for, in
 * English and other common languages. One word proves nothing; it is one sign among many.
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
] as const;
type Phrase = (typeof PHRASES)[number];

const WORDS: Record<Phrase, string> = {
  share: `share tweet facebook twitter whatsapp linkedin pinterest instagram reddit telegram youtube follow email print
    teilen drucken partager compartir condividi delen udostępnij copy tiktok rss`,
  talk: `comment comments reply replies kommentar kommentare antworten commentaire commentaires répondre comentario
    comentarios responder commenti rispondi reactie reacties komentarz komentarze like likes upvote report quote
    conversation discussion answer answers vote votes thanks reactions`,
  related: `related recommended recommend also trending latest popular similar more ähnliche ähnlich auch voir aussi
    relacionados relacionadas relacionado leggi anche lees recent recently viewed suggested meistgelesen plus editors
    picks stories featured most next`,
  legal: `© copyright rights reserved privacy terms cookies cookie impressum datenschutz disclaimer mentions légales
    aviso powered gdpr agb contact about conditions policy accessibility sitemap careers advertise imprint consent
    accept contacto kontakt`,
  join: `subscribe subscription newsletter sign signup login log register account join inbox mail abonnieren anmelden
    registrieren inscription inscrire suscríbete iscriviti inschrijven zapisz free trial started download app
    member members password email`,
  go: `read continue reading learn view see all show less load previous prev back skip home menu search close toggle
    weiterlesen zurück weiter mehr lire suite suivant précédent leer más siguiente anterior leggi meer czytaj click
    jump expand collapse filter sort page top open hide browse explore`,
  advert: `advertisement advertising sponsored promoted anzeige werbung publicité publicidad pubblicità advertentie
    reklama affiliate ad ads partner`,
  byline: `by von par por posted published updated modified written author veröffentlicht publié publicado ago min
    minutes filed under tags tagged tag category categories joined location posts january february march april may
    june july august september october november december jan feb mar apr jun jul aug sep oct nov dec monday tuesday
    wednesday thursday friday saturday sunday januar februar märz juni juli dezember uhr am pm edited editor staff
    writer reporter`,
  shop: `cart bag basket wishlist compare buy stock shipping checkout quantity qty price sale warenkorb panier carrito
    carrello review reviews rating ratings star stars add delivery returns size color save off`,
  media: `photo photos image images picture video watch listen play gallery getty reuters afp ap foto bild credit
    courtesy slideshow enlarge screenshot caption figure`,
};

const MASKS = new Map<string, number>();
const LONGEST = 160;
const PRICE = /[$€£¥₹₽₩₺]\s?\d|\d\s?(?:[$€£¥₹₽₩₺元円]|zł|kr\b|Kč|руб|EUR\b|USD\b|CHF\b|TL\b)/;
const SHOP = 1 << PHRASES.indexOf('shop');

function masks(): Map<string, number> {
  if (MASKS.size > 0) return MASKS;
  for (const [at, phrase] of PHRASES.entries()) {
    for (const word of WORDS[phrase].split(/\s+/)) MASKS.set(word, (MASKS.get(word) ?? 0) | (1 << at));
  }
  return MASKS;
}

const readWords = createWordReader((word) => masks().get(word) ?? 0, { humps: false, longest: LONGEST });

/** A mask of what a short text may be for, `1 << index` of PHRASES; 0 for texts over 160 characters. */
export function readPhrases(text: string): number {
  if (text.length > LONGEST) return 0;
  let mask = readWords(text);
  if (PRICE.test(text)) mask |= SHOP;
  return mask;
}

/** Whether a price stands in a short text. */
export const hasPrice = (text: string): boolean => text.length <= LONGEST && PRICE.test(text);
