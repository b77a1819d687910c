/**
 * What the class, id and role of an element say about its part on the page. Names are split into words (at dashes,
 * underscores and capitals) and each word is looked up once; English and the usual words of other languages.
 */

/** Parts that names speak of; a mask has the bit `1 << index` for each. */
export const PARTS = [
  'nav',
  'header',
  'footer',
  'aside',
  'comment',
  'share',
  'related',
  'advert',
  'consent',
  'signup',
  'author',
  'meta',
  'widget',
  'popup',
  'search',
  'pager',
  'caption',
  'button',
  'price',
  'product',
  'review',
  'gallery',
  'content',
  'post',
  'thread',
  'item',
  'title',
  'summary',
  'notice',
  'code',
] as const;
export type Part = (typeof PARTS)[number];

const WORDS: Record<Part, RegExp> = {
  nav: /^(?:nav|navi|navs|topnav|crumbs?|toc|tabs?|sitemap|skip)$|navbar|navigation|menu|breadcrumb|naviga/,
  header: /^(?:header|head|masthead|topbar|banner|top|kopf|cabecera|entete|hero|jumbotron)$|^header|masthead|pagehead/,
  footer:
    /^(?:footer|contentinfo|foot|bottom|colophon|pied|pie|rodape|stopka|fuss|fusszeile|paticka)$|^footer|footer$|legal|copyright/,
  aside:
    /^(?:aside|complementary|side|rail|right|secondary|sidecol|rightcol|leftcol|lateral|marginal|marginalspalte)$|sidebar|seitenleiste|sidecolumn|rightcolumn/,
  comment: /^(?:disqus|respond|replies|livefyre|yorum)$|comment|kommentar|comentario|commenti|reactie|koment/,
  share:
    /^(?:share|sharing|shares|social|socials|facebook|twitter|whatsapp|pinterest|linkedin|addthis|follow|sns|teilen|delen|compartir|partage|partager|condividi)$|^share|sharebar|sharedaddy|socialmedia|addtoany/,
  related:
    /^(?:more|also|suggested|similar|popular|trending|outbrain|taboola|next|teaser|teasers|promos?|mostread|latest|recent|recents|upsell|crosssell|readnext|recirc|recirculation|verwandt)$|relat|recommend|recomend|empfehl|recirc|youmay|ahnlich|aehnlich|gerelateerd/,
  advert:
    /^(?:ad|ads|adv|advert|adbox|dfp|gpt|sponsor|sponsored|sponsors|promo|promotion|promoted|werbung|anzeige|reklama|pub|publicite|publicidad)$|advert|adsense|adslot|adunit|sponsor|doubleclick/,
  consent: /^(?:gdpr|ccpa|cc|privacy|cmp|onetrust)$|cookie|consent|datenschutz/,
  signup:
    /^(?:subscribe|subscription|optin|register|login|signin|paywall|regwall|account|mailchimp|abo|form)$|newsletter|signup|mailing|subscri/,
  author:
    /^(?:author|authors|bio|byline|autor|auteur|autore|writer|contributor|avatar|user|username|profile|member)$|author|byline|userinfo/,
  meta: /^(?:meta|metadata|date|dateline|time|timestamp|published|posted|info|infos|details?|stats|tags?|taglist|category|categories|kicker|eyebrow|label|labels|badge|attribution|credits?|counter|views|likes|votes?)$|postmeta|entrymeta|timestamp/,
  widget: /^(?:widget|widgets|module|modules|plugin|block|blocks|box|boxes|panel|card|cards)$|widget/,
  popup:
    /^(?:popup|modal|overlay|lightbox|dialog|tooltip|dropdown|drawer|offcanvas|flyout|toast|sticky|interstitial)$|popup|modal|offcanvas|tooltip/,
  search:
    /^(?:search|searchbox|suche|buscar|recherche|filter|filters|facets?|sort|sorting|refine|toolbar)$|searchform|searchbar/,
  pager: /^(?:pager|pagination|paging|paginator|prev|previous|loadmore|pages|page-numbers)$|pagination|postnav/,
  caption: /^(?:caption|captions|figcaption|legend|wp-caption|credit|bildunterschrift)$|caption/,
  button:
    /^(?:button|buttons|btn|btns|cta|action|actions|link|links|readmore|toggle|control|controls|print|tools?)$|button/,
  price:
    /^(?:price|prices|pricing|preis|prix|precio|cost|sale|discount|stock|availability|shipping|delivery|qty|quantity|cart|basket|checkout|buy|buybox|sku)$|price|addtocart/,
  product:
    /^(?:product|produkt|produit|producto|specs?|specifications?|features?|attributes?|variants?|swatch|sizes?|pdp)$|product/,
  review: /^(?:review|reviews|rating|ratings|stars?|testimonials?|feedback|bewertung|avis)$|review|rating/,
  gallery:
    /^(?:gallery|slider|slides?|slideshow|carousel|swiper|slick|owl|media|photos?|images?|thumbs?|thumbnails?|video|player|embed)$|gallery|carousel|slideshow|thumbnail/,
  content:
    /^(?:content|contents|main|body|text|copy|prose|richtext|rte|wysiwyg|markdown|inhalt|contenu|contenido|conteudo|contenuto|inhoud|tresc|obsah|icerik|innehall|honbun|paragraph|description|desc|rich|documentation|docs?)$|maincontent|content|bodytext|textbody|markdown|description/,
  post: /^(?:post|posts|entry|article|articles|story|blog|news|artikel|beitrag|articulo|noticia|articolo|hentry|single|permalink|page|recipe|essay|kiji|archive)$|article|blogpost|story|hentry|postcontent|entrycontent|postbody|entrybody|articlebody/,
  thread:
    /^(?:thread|threads|topic|topics|forum|forums|message|messages|msg|reply|discussion|question|answer|answers|qa|faq|faqs|bbs|board|conversation|postbody|postbit|signature|sig|quote|ticket|issue)$|thread|forum|postbit|discussion/,
  item: /^(?:item|items|list|listing|listings|results?|grid|tile|tiles|row|rows|entries|loop|feed|stream|archive|catalog|collection|collections|directory|table|tbl)$|listitem|griditem/,
  title: /^(?:title|titles|headline|heading|subtitle|subhead|name|titel|titre|titulo|h1)$|title|headline/,
  summary:
    /^(?:summary|excerpt|teasertext|lead|lede|intro|standfirst|dek|abstract|deck|chapeau|entradilla|blurb|preview|snippet|highlights?)$|excerpt|summary/,
  notice:
    /^(?:alert|alerts|notice|warning|message|disclaimer|disclosure|tip|note|notification|hidden|sr|screen|visually|noprint|error|offscreen|invisible|skip)$|disclaimer|visuallyhidden/,
  code: /^(?:code|highlight|snippet|prettyprint|hljs|codehilite|syntax|codeblock|console|terminal|output|cell)$|highlight|codeblock/,
};

const LONGEST_NAME = 400;
const MOST_KNOWN = 50_000;

const HUMP = /([a-z])(?=[A-Z])/g;
const NOT_ASCII = /[^\0-\x7f]/;

/** A cache that forgets all when it is full: hostile pages cannot make it grow, usual ones never fill it. */
function remember(read: (key: string) => number): (key: string) => number {
  const known = new Map<string, number>();
  return (key) => {
    let value = known.get(key);
    if (value === undefined) {
      value = read(key);
      if (known.size >= MOST_KNOWN) known.clear();
      known.set(key, value);
    }
    return value;
  };
}

function readWord(word: string): number {
  let mask = 0;
  for (let part = 0; part < PARTS.length; part++) if (WORDS[PARTS[part]!].test(word)) mask |= 1 << part;
  return mask;
}

/** Reads the value of a class, id or role attribute to a mask; keeps what it has read, so make one for many pages. */
export function createClassReader(): (name: string) => number {
  const wordMask = remember(readWord);
  const nameMask = remember((name) => {
    const spaced = name.replace(HUMP, '$1-').toLowerCase();
    let mask = 0;
    for (const word of spaced.split(NOT_ASCII.test(spaced) ? /[^\p{L}]+/u : /[^a-z]+/)) {
      if (word.length > 1) mask |= wordMask(word);
    }
    return mask;
  });
  return remember((value) => {
    let mask = 0;
    for (const name of value.slice(0, LONGEST_NAME).split(' ')) if (name) mask |= nameMask(name);
    return mask;
  });
}
