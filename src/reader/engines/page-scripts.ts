/** Determines which scripts and style sheets of a page could change its content. */
import { attribute, type Element, textOf } from '#html/node.ts';

/** Script types that are executed according to the HTML standard; other types contain data. */
const JAVASCRIPT = /^(?:(?:text|application)\/(?:x-)?(?:java|ecma|live|j)script(?:1\.\d)?|module|)$/i;
/** Data for search engines and loaders; pages never build their content from it. */
const NOT_FOR_CONTENT = /^(?:application\/ld\+json|importmap|speculationrules)$/i;

const typeOf = (script: Element): string => (attribute(script, 'type') ?? '').split(';', 1)[0]!.trim();

/** URL of a script; SVG scripts specify it in `href`. */
const sourceOf = (script: Element): string | null =>
  attribute(script, 'src') ?? (script.namespace === 'svg' ? attribute(script, 'href') : null);

/** Whether a script runs code that could change the content. */
export function isExecutable(script: Element): boolean {
  if (!JAVASCRIPT.test(typeOf(script))) return false;
  const source = sourceOf(script);
  if (source !== null) return source.trim() !== '' && !ANALYTICS_SOURCES.test(source);
  const code = textOf(script).trim();
  return code !== '' && !isHarmless(code);
}

/** The contribution of a script element: its URL, code or data; `undefined` if there is none. */
export function contributionOf(script: Element): string | undefined {
  if (isExecutable(script)) return `${sourceOf(script) ?? ''}\n${textOf(script)}`;
  const type = typeOf(script);
  return JAVASCRIPT.test(type) || NOT_FOR_CONTENT.test(type) ? undefined : `${type}\n${textOf(script)}`;
}

/** Attributes with code that runs while the page loads, without user action. */
const RUNS_ON_LOAD = /^on(?:load|error|pageshow|readystatechange|begin|animationstart|transitionend)$/;

/**
 * The code that an element runs on load, if it could change the content. Functions called by this code are in scripts,
 * which are examined separately; only the handler of `body` counts as the start of an application.
 */
export function codeOnLoad(element: Element): string | undefined {
  for (const { name, value } of element.attributes) {
    if (!RUNS_ON_LOAD.test(name)) continue;
    const counts =
      element.name === 'body' ? value.trim() !== '' : MAKES_CONTENT.test(value.slice(0, MAX_SNIPPET_CHARACTERS));
    if (counts) return value;
  }
  return undefined;
}

/** Scripts of analytics services, which create no content. */
const ANALYTICS_SOURCES =
  /^(?:https?:)?\/\/(?:[a-z0-9-]+\.)*(?:google-analytics\.com|googletagmanager\.com|static\.cloudflareinsights\.com|plausible\.io|usefathom\.com|goatcounter\.com|statcounter\.com|hotjar\.com|clarity\.ms|connect\.facebook\.net|matomo\.cloud|mc\.yandex\.ru|scorecardresearch\.com|chartbeat\.com|quantserve\.com|umami\.is|simpleanalyticscdn\.com)(?::\d+)?\//i;
const ANALYTICS_CODE =
  /\b(?:gtag|dataLayer|_gaq|GoogleAnalyticsObject|fbq|_paq|plausible|clarity|_hjSettings|goatcounter)\b/;
/**
 * Code that writes into a page, or loads code that may. Analytics snippets add script elements with `appendChild` and
 * `insertBefore`, so these calls do not count.
 */
const MAKES_CONTENT =
  /innerHTML|outerHTML|insertAdjacent|document\.write|textContent|innerText|nodeValue|hydrat|render|fetch\(|XMLHttpRequest|import\(|createTextNode|createContextualFragment|cloneNode|insertRow|insertCell|setHTML|replaceWith|replaceChildren|\.(?:append|prepend|before|after|html|text|load)\(|createElement\(\s*["'`](?!script\b|noscript\b|iframe\b|img\b)|\beval\(|\bFunction\(/;
/** Code that lets the style sheets of the page detect that scripts run, for example by setting a class. */
const MARKS_THE_ROOT =
  /^document\.(?:documentElement|body)\.class(?:Name|List)\b[^;{}()]{0,200}(?:\([^;{}()]{0,200}\))?[^;{}()]{0,100};?$/;
const MAX_SNIPPET_CHARACTERS = 4_000;

const isHarmless = (code: string) =>
  code.length <= MAX_SNIPPET_CHARACTERS &&
  !MAKES_CONTENT.test(code) &&
  (ANALYTICS_CODE.test(code) || MARKS_THE_ROOT.test(code));

const MAX_STYLE_CHARACTERS = 500_000;
/** Matches style rules that may hide text. Style attributes are not covered, since extraction evaluates them anyway. */
const MAY_HIDE =
  /display\s*:\s*none|visibility\s*:|opacity\s*:|clip|text-indent\s*:\s*-|font-size\s*:\s*[01](?:\D|$)|(?:left|top|right|bottom|margin|margin-left|margin-top)\s*:\s*-\d|(?:width|height)\s*:\s*[01](?:px)?\s*[;}]|transform|@import|color\s*:\s*(?:#f|white|transparent|rgba?\(\s*2[0-5]\d)/i;

/** The style sheet of an element, as text or URL, if it could hide part of the page. */
export function hidingStyle(element: Element): string | undefined {
  if (element.name === 'style') {
    const text = textOf(element);
    return MAY_HIDE.test(text.slice(0, MAX_STYLE_CHARACTERS)) ? text : undefined;
  }
  if (element.name !== 'link') return undefined;
  const isSheet = /\bstylesheet\b/i.test(attribute(element, 'rel') ?? '');
  const isLate = attribute(element, 'as')?.trim().toLowerCase() === 'style' && attribute(element, 'onload') !== null;
  return isSheet || isLate ? (attribute(element, 'href') ?? '') : undefined;
}
