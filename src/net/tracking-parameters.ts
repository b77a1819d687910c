/**
 * Query parameters that do not identify a page. The crawler, the search results and the local index remove them before
 * comparing URLs.
 */

/** Parameters of analytics and advertising services. They indicate where a visitor came from. */
const TRACKING =
  /^(?:utm_.*|fbclid|gclid|dclid|gbraid|wbraid|msclkid|yclid|twclid|ttclid|igshid|srsltid|mc_cid|mc_eid|_ga|_gl|_hsenc|_hsmi|mkt_tok|oly_anon_id|oly_enc_id|vero_id|wickedid)$/i;

/** Session parameters of PHP, ASP, ColdFusion and Java servlets. */
const SESSION = /^(?:phpsessid|jsessionid|aspsessionid\w*|cfid|cftoken|sessionid)$/i;

/** Whether the parameter only tracks visitors. Such a parameter neither selects a page nor grants access to one. */
export const isTrackingParameter = (name: string): boolean => TRACKING.test(name);

/**
 * Whether the parameter identifies a visitor's session. It does not select a page, but it may grant access to one, so a
 * URL that contains it may be a capability URL.
 */
export const isSessionParameter = (name: string): boolean => SESSION.test(name);
