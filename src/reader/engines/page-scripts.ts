/** Which scripts and style sheets of a page could change what there is to read. */
import { attribute, type Element, textOf } from '#html/node.ts';

/** Types by which a script element holds data, by the HTML standard's list of what is JavaScript. */
const JAVASCRIPT = /^(?:(?:text|application)\/(?:x-)?(?:java|ecma|live|j)script(?:1\.\d)?|module|)$/i;
/** Data that search engines read, and that no page builds its content from. */
const FOR_ENGINES = /^(?:application\/ld\+json|importmap|speculationrules)$/i;

const typeOf = (script: Element): string => (attribute(script, 'type') ?? '').split(';', 1)[0]!.trim();

/** The URL that a script element loads; those of SVG name it `href`. */
const sourceOf = (script: Element): string | null =>
  attribute(script, 'src') ?? (script.namespace === 'svg' ? attribute(script, 'href') : null);

/** Whether a script element runs something that could change what there is to read. */
export function isExecutable(script: Element): boolean {
  if (!JAVASCRIPT.test(typeOf(script))) return false;
  const source = sourceOf(script);
  if (source !== null) return source.trim() !== '' && !ANALYTICS_SOURCES.test(source);
  const code = textOf(script).trim();
  return code !== '' && !isHarmless(code);
}

/** What a script element brings to the page: its URL, its code or the data that it holds; undefined for nothing. */
export function broughtBy(script: Element): string | undefined {
  if (isExecutable(script)) return `${sourceOf(script) ?? ''}\n${textOf(script)}`;
  const type = typeOf(script);
  return JAVASCRIPT.test(type) || FOR_ENGINES.test(type) ? undefined : `${type}\n${textOf(script)}`;
}

/** Attributes by which an element runs a script when the page loads, without anybody doing anything. */
const RUNS_ON_LOAD = /^on(?:load|error|pageshow|readystatechange|begin|animationstart|transitionend)$/;

/**
 * The code that an element runs when it has loaded, if that could change what there is to read. A function that it calls
 * stands in a script, which is looked at by itself; only what `body` runs is the start of an application.
 */
export function codeOnLoad(element: Element): string | undefined {
  for (const { name, value } of element.attributes) {
    if (!RUNS_ON_LOAD.test(name)) continue;
    const counts = element.name === 'body' ? value.trim() !== '' : MAKES_CONTENT.test(value.slice(0, MAX_SNIPPET));
    if (counts) return value;
  }
  return undefined;
}

/** Scripts that count visitors: none of them makes content. */
const ANALYTICS_SOURCES =
  /^(?:https?:)?\/\/(?:[a-z0-9-]+\.)*(?:google-analytics\.com|googletagmanager\.com|static\.cloudflareinsights\.com|plausible\.io|usefathom\.com|goatcounter\.com|statcounter\.com|hotjar\.com|clarity\.ms|connect\.facebook\.net|matomo\.cloud|mc\.yandex\.ru|scorecardresearch\.com|chartbeat\.com|quantserve\.com|umami\.is|simpleanalyticscdn\.com)(?::\d+)?\//i;
const ANALYTICS_CODE =
  /\b(?:gtag|dataLayer|_gaq|GoogleAnalyticsObject|fbq|_paq|plausible|clarity|_hjSettings|goatcounter)\b/;
/** Whatever writes into a page, or loads what may. Counters add script elements, by `appendChild` and `insertBefore`. */
const MAKES_CONTENT =
  /innerHTML|outerHTML|insertAdjacent|document\.write|textContent|innerText|nodeValue|hydrat|render|fetch\(|XMLHttpRequest|import\(|createTextNode|createContextualFragment|cloneNode|insertRow|insertCell|setHTML|replaceWith|replaceChildren|\.(?:append|prepend|before|after|html|text|load)\(|createElement\(\s*["'`](?!script\b|noscript\b|iframe\b|img\b)|\beval\(|\bFunction\(/;
/** Tells the page's own style sheets that scripts run. */
const MARKS_THE_ROOT =
  /^document\.(?:documentElement|body)\.class(?:Name|List)\b[^;{}()]{0,200}(?:\([^;{}()]{0,200}\))?[^;{}()]{0,100};?$/;
const MAX_SNIPPET = 4_000;

const isHarmless = (code: string) =>
  code.length <= MAX_SNIPPET && !MAKES_CONTENT.test(code) && (ANALYTICS_CODE.test(code) || MARKS_THE_ROOT.test(code));

const MAX_STYLE = 500_000;
/** Rules by which text may be on the page and not to be seen, those of a style attribute aside: these are read anyway. */
const MAY_HIDE =
  /display\s*:\s*none|visibility\s*:|opacity\s*:|clip|text-indent\s*:\s*-|font-size\s*:\s*[01](?:\D|$)|(?:left|top|right|bottom|margin|margin-left|margin-top)\s*:\s*-\d|(?:width|height)\s*:\s*[01](?:px)?\s*[;}]|transform|@import|color\s*:\s*(?:#f|white|transparent|rgba?\(\s*2[0-5]\d)/i;

/** The style sheet that an element brings, by its text or its URL, if it could hide some of the page. */
export function hidingStyle(element: Element): string | undefined {
  if (element.name === 'style') {
    const text = textOf(element);
    return MAY_HIDE.test(text.slice(0, MAX_STYLE)) ? text : undefined;
  }
  if (element.name !== 'link') return undefined;
  const isSheet = /\bstylesheet\b/i.test(attribute(element, 'rel') ?? '');
  const isLate = attribute(element, 'as')?.trim().toLowerCase() === 'style' && attribute(element, 'onload') !== null;
  return isSheet || isLate ? (attribute(element, 'href') ?? '') : undefined;
}
