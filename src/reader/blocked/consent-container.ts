/** Recognizes the containers of consent managers by their ids and classes. */
import { attribute, type Element } from '#html/node.ts';

/**
 * Names that consent managers give to their containers, from their own documentation: OneTrust, Sourcepoint, Didomi,
 * Usercentrics, Cookiebot, Quantcast (InMobi), Google Funding Choices, TrustArc, consentmanager.net, Osano, CookieYes,
 * Klaro, tarteaucitron, Iubenda, Axeptio; and the words that sites use for their own.
 */
const NAMES =
  /onetrust|ot-sdk|sp_message|sp-message|didomi|usercentrics|cybotcookiebot|cookiebot|qc-cmp|fc-consent|truste|trustarc|cmpbox|cmpwrapper|osano|cky-consent|klaro|tarteaucitron|iubenda-cs|axeptio|(?:cookie|consent|gdpr|dsgvo|rgpd)[-_]?(?:wall|page|banner|form|layer|modal|notice|overlay|dialog|popup|message|container|gate|manager|box)|consent$/i;

export function isConsentContainer(element: Element): boolean {
  const id = attribute(element, 'id');
  const names = attribute(element, 'class');
  return (id !== null && NAMES.test(id.slice(0, 200))) || (names !== null && NAMES.test(names.slice(0, 200)));
}
