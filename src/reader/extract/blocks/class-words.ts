/**
 * Determines which part of the page an element is, from its class, id and role. Names are split into words (at dashes,
 * underscores and capitals), and each word is looked up, in English and other common languages.
 */

import { createWordPatterns } from './word-patterns.ts';
import { createWordReader } from './word-reader.ts';

/** Parts that names can indicate. In a mask, the bit of each part is `1 << index`. */
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
  'form',
  'hidden',
] as const;
export type Part = (typeof PARTS)[number];

const WORDS: Record<Part, string> = {
  nav: `navi crumb crumbs toc tab tabs sitemap skip hamburger burger mega toggler switcher utility sitelinks
    localnav ancestor nav* !navy* !naval* !navar* !navel* !navaj* *nav *navbar* *navigation* *menu* *breadcrumb*
    *naviga*`,
  header: `head topbar banner top kopf cabecera entete hero jumbotron logo slogan tagline branding sitename *header*
    *masthead* *pagehead* *logotype*`,
  footer: `footer contentinfo foot bottom colophon pied pie rodape stopka fuss fusszeile paticka footer* *footer
    *legal* *copyright*`,
  aside: `aside complementary side rail right secondary tertiary sidecol rightcol leftcol lateral marginal
    marginalspalte *sidebar* *seitenleiste* *sidecolumn* *rightcolumn* *siderail*`,
  comment: `disqus respond replies livefyre yorum viafoura coral hyvor *comment* *kommentar* *comentario* *commenti*
    *reactie* *koment*`,
  share: `sharing shares social socials facebook twitter whatsapp pinterest linkedin instagram youtube tiktok
    telegram mastodon bluesky addthis follow follows sns teilen delen compartir partage partager condividi rss
    share* *sharebar* *sharedaddy* *socialmedia* *addtoany* *sociallink*`,
  related: `more also suggested suggestion suggestions similar popular trending outbrain taboola next teaser teasers
    promo promos mostread latest recent recents recently viewed upsell upsells crosssell crosssells xsell readnext
    recirc recirculation verwandt discovery discover stories alike *relat* !relative* *recommend* *recomend* *empfehl* *recirc*
    *youmay* *ahnlich* *aehnlich* *gerelateerd* *boughttogether* *alsobought* *alsolike*`,
  advert: `ad ads adv advert adbox dfp gpt sponsor sponsored sponsors promo promotion promoted werbung anzeige
    reklama pub publicite publicidad *advert* *adsense* *adslot* *adunit* *sponsor* *doubleclick*`,
  consent: `gdpr ccpa cc privacy cmp onetrust ot cookiebot didomi usercentrics *cookie* *consent* *datenschutz*`,
  signup: `subscribe subscription subscriptions optin register registration login logged logon signin sign paywall
    regwall account accounts mailchimp abo guest membership *newsletter* *signup* *mailing* *subscri*`,
  author: `bio byline autor auteur autore writer contributor contributors avatar avatars user users username profile
    member members poster rank signature sig persona joined userpic *author* *byline* *userinfo* *signature*
    *userpanel* *postprofile* *userrank*`,
  meta: `metadata date dates dateline datetime time times timestamp published posted updated modified info infos
    detail details stats stat tag tags taglist category categories kicker eyebrow label labels badge badges chip
    chips pill pills attribution credit credits counter count counts views like likes vote votes vcard readingtime
    meta* *postmeta* *entrymeta* *timestamp* *dateline*`,
  widget: `widget widgets module modules plugin block blocks box boxes panel card cards *widget*`,
  popup: `popup modal overlay lightbox dialog tooltip dropdown drawer offcanvas flyout toast sticky interstitial
    *popup* *modal* *offcanvas* *tooltip*`,
  search: `searchbox suche buscar recherche filter filters filtering facet facets sort sorting sortby refine
    refinement refinements toolbar autocomplete typeahead search* *searchform* *searchbar* *filterbar*`,
  pager: `pager pagination paging paginator prev previous loadmore pages *pagination* *postnav*`,
  caption: `caption captions figcaption legend credit bildunterschrift *caption*`,
  button: `btn btns cta ctas action actions link links readmore toggle control controls print tool tools close
    clickable icon icons arrow arrows chevron caret permalink loadmore expand collapse *button*`,
  price: `price prices pricing preis prix precio cost sale discount stock availability shipping delivery qty
    quantity cart basket checkout buy buybox sku *price* *addtocart*`,
  product: `product produkt produit producto spec specs specification specifications feature features attribute
    attributes variant variants swatch size sizes pdp *product*`,
  review: `review reviews rating ratings star stars testimonial testimonials feedback bewertung avis *review*
    *rating*`,
  gallery: `gallery slider slide slides slideshow carousel swiper slick owl media photo photos image images thumb
    thumbs thumbnail thumbnails video player embed *gallery* *carousel* *slideshow* *thumbnail*`,
  content: `content contents main body text copy prose richtext rte wysiwyg markdown inhalt contenu contenido
    conteudo contenuto inhoud tresc obsah icerik innehall honbun paragraph description desc rich documentation doc
    docs *maincontent* *content* *bodytext* *textbody* *markdown* *description*`,
  post: `post posts entry article articles story blog news artikel beitrag articulo noticia articolo hentry single
    permalink page recipe essay kiji archive *article* *blogpost* *story* *hentry* *postcontent* *entrycontent*
    *postbody* *entrybody* *articlebody*`,
  thread: `topic topics forum forums message messages msg msgs reply question answer answers qa faq faqs bbs board
    boards conversation postbit ticket issue subject quote quoted bbcode *thread* *forum* *postbit* *discussion*
    msg* message* postbody* posttext* postcontent* postmessage* postrow* postcontainer* *answercell* *postcell*`,
  item: `item items list listing listings result results grid tile tiles row rows entries loop feed stream archive
    catalog collection collections directory table tbl *listitem* *griditem*`,
  title: `title titles headline heading subtitle subhead name titel titre titulo *title* *headline*`,
  summary: `summary excerpt teasertext lead lede intro standfirst dek abstract deck chapeau entradilla blurb preview
    snippet highlight highlights *excerpt* *summary*`,
  notice: `alert alerts notice notices warning disclaimer disclosure tip note notification notifications noprint
    error errors success loading loader spinner placeholder skeleton *disclaimer*`,
  code: `code highlight snippet prettyprint hljs codehilite syntax codeblock console terminal output cell
    *highlight* *codeblock*`,
  form: `form forms input inputs submit field fieldset checkbox radio required textfield textarea option options
    select selected dropdown dropdowns gform gfield validation quantity qty captcha contactform placeholder
    *textinput* *formfield*`,
  hidden: `hide hidden sr screenreader screen visually offscreen invisible concealed collapsed noscript print
    *visuallyhidden* *screenreader* *sronly* *assistive*`,
};

const MAX_NAME_CHARACTERS = 400;

/**
 * Creates a function that converts a class, id or role attribute to a mask. The function caches words, so reuse it for
 * many pages.
 */
export function createClassReader(): (name: string) => number {
  const maskOf = createWordPatterns(PARTS.map((part) => WORDS[part]));
  return createWordReader((word) => (word.length > 1 ? maskOf(word) : 0), {
    camelCase: true,
    maxCharacters: MAX_NAME_CHARACTERS,
  });
}
