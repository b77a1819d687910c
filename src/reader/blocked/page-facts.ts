/**
 * The facts of a page that the rules test: how much text of its own it has, its title and headings, its fields, and the
 * marks in its markup. One walk over the tree; everything collected is bounded.
 */
import {
  attribute,
  type Document,
  type Element,
  following,
  hasAttribute,
  isElement,
  type Parent,
  TEXT,
  textOf,
} from '#html/node.ts';
import { isExecutable } from '../engines/page-scripts.ts';
import { HIDDEN_ATTRIBUTE } from '../snapshot.ts';
import { isConsentContainer } from './consent-container.ts';
import { normalized, weigh } from './normalized.ts';

export interface BlockedPageFacts {
  /** Normalized, see `normalized.ts`. */
  readonly title: string;
  readonly headings: readonly string[];
  /** The headings that are not the name of the site: outside header, navigation and footer. */
  readonly topics: readonly string[];
  /**
   * The start of the text that is neither heading, label, navigation, header nor footer, nor cited as code or
   * quotation, unless there is no other. Links count only inside sentences. Normalized.
   */
  readonly body: string;
  /** The start of all visible text that is not quoted; normalized. */
  readonly text: string;
  /** Weight of that text with the headings, in letters of an alphabet; see `weigh`. */
  readonly ownLetters: number;
  /** Weight of all visible text. */
  readonly letters: number;
  /** Weight of the visible text inside, and outside, of containers of a consent manager. */
  readonly consentLetters: number;
  readonly otherLetters: number;
  /** Visible labels of buttons; normalized. */
  readonly buttons: readonly string[];
  readonly passwordFields: number;
  /** The first `h1` or `h2` outside header, navigation and footer, if it comes after a field for a password. Normalized. */
  readonly headingAfterLogin: string;
  /** Lines of verse: lines without numbers and colons that end within a sentence. */
  readonly verses: number;
  /** Visible fields for text, without those for passwords. */
  readonly textFields: number;
  readonly links: number;
  /** Pictures, players, frames and drawings. */
  readonly media: number;
  /** Scripts that run. */
  readonly scripts: number;
  /** Whether an element that applications render into has no text. */
  readonly emptyRoot: boolean;
  /** Start of the text of `noscript` elements; normalized. */
  readonly noscript: string;
  /** Weight of all text in `noscript` elements. */
  readonly noscriptLetters: number;
  /** Attributes, starts of inline scripts and comments, one a line: what vendors sign pages with. */
  readonly marks: string;
}

const MAX_BODY_CHARACTERS = 2_000;
const MAX_HEADINGS = 8;
const MAX_LINE_CHARACTERS = 300;
const MAX_MARKS_CHARACTERS = 60_000;
/** Inline scripts are signed at their start, comments in a few words. */
const MAX_SCRIPT_CHARACTERS = 3_000;
const MAX_NOSCRIPT_CHARACTERS = 500;
const MAX_BUTTONS = 12;
/** With more text of its own than this, a page is content, and the rest of it is not examined. */
const MAX_OWN_LETTERS = 6_000;

/** A line of verse is neither a label nor a paragraph. */
const MIN_VERSE_LETTERS = 12;
const MAX_VERSE_LETTERS = 70;
const NO_VERSE = /[\d:：@{}<>=]|[.。!?！？]\s*$/;

const HEADINGS = new Set(['h1', 'h2', 'h3', 'h4']);
/** Elements whose text says what to do or where to go, not what the page is about. */
const BESIDE = new Set(['a', 'button', 'label', 'select', 'nav', 'header', 'footer', 'aside', 'legend', 'menu']);
const BESIDE_ROLES = new Set(['navigation', 'banner', 'contentinfo', 'complementary']);
/** Elements whose text is cited: an article about an error shows its message there. */
const QUOTED = new Set(['code', 'samp', 'kbd', 'q', 'blockquote']);
/** Elements that hold what the page is about, so a header in them belongs to it. */
const MAIN = new Set(['main', 'article']);
const MEDIA = new Set(['img', 'video', 'audio', 'iframe', 'frame', 'canvas', 'object', 'embed', 'svg', 'picture']);
const NOT_SHOWN = new Set(['script', 'style', 'noscript', 'template', 'head', 'title', 'textarea', 'svg', 'math']);
const MARKED_ATTRIBUTES = [
  'id',
  'class',
  'name',
  'action',
  'src',
  'href',
  'data-sitekey',
  'data-adblockkey',
  'content',
];
/** Fields that are not for text. */
const NOT_TEXT = /^(?:hidden|submit|button|image|reset|checkbox|radio|file|range|color|password)$/i;
const ROOTS = /^(?:root|app|__next|__nuxt|___gatsby|react-root|main-app|app-root|application|mount\w*|q-app|svelte)$/i;

/** Collects the facts of a page. Call it before anything is removed from the tree. */
export function blockedPageFacts(document: Document): BlockedPageFacts {
  const collector = new Collector();
  let node = following(document, document);
  while (node && !collector.isFull) {
    let skip = false;
    if (node.type === TEXT) collector.text(node.value, node.parent);
    else if (isElement(node)) skip = collector.element(node);
    else if ('value' in node) collector.mark(node.value.slice(0, MAX_LINE_CHARACTERS));
    node = following(node, document, skip);
  }
  return collector.facts();
}

/**
 * Whether a page has more text of its own than any page that stands in place of content, except for some default pages
 * of servers, which their titles give away. Much cheaper than collecting the facts, so it comes first.
 */
export function hasMuchText(document: Document): boolean {
  let letters = 0;
  let isDefault = false;
  let node = following(document, document);
  while (node && letters <= MUCH_LETTERS) {
    let skip = false;
    if (node.type === TEXT) letters += weigh(node.value);
    else if (isElement(node)) {
      if (node.name === 'title' && node.namespace === 'html')
        isDefault ||= DEFAULT_TITLE.test(textOf(node).slice(0, MAX_LINE_CHARACTERS));
      skip = node.name !== 'head' && (NOT_SHOWN.has(node.name) || BESIDE.has(node.name) || isHidden(node));
    }
    node = following(node, document, skip);
  }
  return letters > MUCH_LETTERS && !isDefault;
}

const MUCH_LETTERS = 1_500;
const DEFAULT_TITLE = /default|test page|it works|caddy|tomcat|xampp|hugedomains|welcome|litespeed/i;

/** The facts of a text that is not HTML. */
export function textFacts(text: string): BlockedPageFacts {
  const body = normalized(text.slice(0, MAX_BODY_CHARACTERS));
  const letters = weigh(text.slice(0, MAX_OWN_LETTERS));
  return { ...new Collector().facts(), body, text: body, ownLetters: letters, letters, otherLetters: letters };
}

/** Where a text stands: values that its element inherits from the ones around it. */
interface Place {
  readonly isBeside: boolean;
  /** In a link inside a sentence. */
  readonly isInline: boolean;
  readonly isConsent: boolean;
  readonly isHeading: boolean;
  readonly isQuoted: boolean;
  /** Quoted, or preformatted. */
  readonly isCited: boolean;
  readonly isMain: boolean;
}

const OUTSIDE: Place = {
  isBeside: false,
  isInline: false,
  isConsent: false,
  isHeading: false,
  isQuoted: false,
  isCited: false,
  isMain: false,
};

class Collector {
  readonly #places = new WeakMap<object, Place>();
  readonly #headings: { readonly isBeside: boolean; isLogo: boolean; text: string }[] = [];
  readonly #buttons: string[] = [];
  readonly #marks: string[] = [];
  #marksLength = 0;
  #title = '';
  #body = '';
  #cited = '';
  #text = '';
  #quoted = '';
  #noscript = '';
  #noscriptLetters = 0;
  #own = 0;
  #all = 0;
  #consent = 0;
  #counts = { passwordFields: 0, textFields: 0, links: 0, media: 0, scripts: 0 };
  #emptyRoot = false;
  #main: { readonly text: string } | undefined;
  #isAfterLogin = false;
  #verses = 0;

  get isFull(): boolean {
    return this.#own > MAX_OWN_LETTERS;
  }

  mark(text: string): void {
    if (this.#marksLength > MAX_MARKS_CHARACTERS) return;
    this.#marks.push(text);
    this.#marksLength += text.length + 1;
  }

  text(value: string, parent: Parent | null): void {
    const letters = weigh(value);
    if (letters === 0) return;
    const place = (parent && this.#places.get(parent)) || OUTSIDE;
    this.#all += letters;
    const start = ` ${value.slice(0, MAX_BODY_CHARACTERS)}`;
    if (place.isQuoted) this.#quoted = extended(this.#quoted, start);
    else this.#text = extended(this.#text, start);
    if (place.isConsent) this.#consent += letters;
    if (place.isHeading) {
      const heading = this.#headings.at(-1);
      if (heading && heading.text.length < MAX_LINE_CHARACTERS)
        heading.text += ` ${value.slice(0, MAX_LINE_CHARACTERS)}`;
      if (heading && isLinkHome(parent)) heading.isLogo = true;
    }
    if (place.isBeside && !place.isHeading) {
      if (place.isInline && !place.isCited) this.#body = extended(this.#body, start);
      return;
    }
    this.#own += letters;
    if (place.isHeading) return;
    if (parent && isElement(parent) && parent.name === 'pre')
      for (const line of start.split('\n')) if (isVerse(line)) this.#verses++;
    if (place.isCited) this.#cited = extended(this.#cited, start);
    else this.#body = extended(this.#body, start);
  }

  /** Returns whether to skip what the element contains. */
  element(element: Element): boolean {
    const { name } = element;
    this.#markElement(element);
    if (name === 'script') {
      if (isExecutable(element)) this.#counts.scripts++;
      this.mark(textOf(element).slice(0, MAX_SCRIPT_CHARACTERS));
    }
    if (name === 'noscript') this.#addNoscript(textOf(element));
    if (name === 'title' && !this.#title && element.namespace === 'html')
      this.#title = normalized(textOf(element).slice(0, MAX_LINE_CHARACTERS));
    if (MEDIA.has(name) && !isTiny(element)) this.#counts.media++;
    if (name === 'head') return false;
    if (NOT_SHOWN.has(name)) return true;
    if (isHidden(element)) return true;
    this.#count(element);
    this.#places.set(element, this.#placeOf(element));
    if (isRoot(element)) this.#lookInside(element);
    return false;
  }

  #addNoscript(text: string): void {
    this.#noscriptLetters += weigh(text);
    if (this.#noscript.length < MAX_NOSCRIPT_CHARACTERS) this.#noscript += text.slice(0, MAX_NOSCRIPT_CHARACTERS);
  }

  #markElement(element: Element): void {
    if (this.#marksLength > MAX_MARKS_CHARACTERS) return;
    // The links of a page lead elsewhere, so they do not sign it, except by their own names.
    const isLink = element.name === 'a' || element.name === 'img';
    for (const name of MARKED_ATTRIBUTES) {
      if (isLink && (name === 'content' || name === 'name')) continue;
      const value = attribute(element, name);
      if (value) this.mark(`${element.name}[${name}]=${value.slice(0, MAX_LINE_CHARACTERS)}`);
    }
  }

  #count(element: Element): void {
    const { name } = element;
    if (name === 'a') this.#counts.links++;
    else if (name === 'br' && element.prev?.type === TEXT && isVerse(element.prev.value)) this.#verses++;
    else if (name === 'input') {
      const type = attribute(element, 'type') ?? '';
      if (/^password$/i.test(type)) this.#counts.passwordFields++;
      else if (!NOT_TEXT.test(type)) this.#counts.textFields++;
      if (/^(?:submit|button)$/i.test(type)) this.#button(attribute(element, 'value') ?? '');
    } else if (name === 'button') this.#button(textOf(element));
  }

  #button(text: string): void {
    if (this.#buttons.length < MAX_BUTTONS) this.#buttons.push(normalized(text.slice(0, MAX_LINE_CHARACTERS)));
  }

  #placeOf(element: Element): Place {
    const { name, parent } = element;
    const around = (parent && this.#places.get(parent)) || OUTSIDE;
    const isHeading = HEADINGS.has(name) || attribute(element, 'role') === 'heading';
    const isBeside = BESIDE.has(name) || BESIDE_ROLES.has(attribute(element, 'role') ?? '');
    if (isHeading && !around.isHeading && this.#headings.length < MAX_HEADINGS)
      this.#headings.push({ isBeside: around.isBeside && !around.isMain, isLogo: false, text: '' });
    if ((name === 'h1' || name === 'h2') && !this.#main && (!around.isBeside || around.isMain)) {
      this.#main = this.#headings.at(-1);
      this.#isAfterLogin = this.#counts.passwordFields > 0;
    }
    const isConsent = !around.isConsent && name !== 'body' && name !== 'html' && isConsentContainer(element);
    const isQuoted = QUOTED.has(name);
    const isCited = isQuoted || name === 'pre';
    const isMain = MAIN.has(name);
    const isInline = around.isInline || (!around.isBeside && name === 'a' && isInSentence(element));
    if (!(isHeading || isBeside || isConsent || isCited || isMain)) return around;
    return {
      isHeading: around.isHeading || isHeading,
      isBeside: around.isBeside || isBeside,
      isInline,
      isConsent: around.isConsent || isConsent,
      isQuoted: around.isQuoted || isQuoted,
      isCited: around.isCited || isCited,
      isMain: around.isMain || isMain,
    };
  }

  /** Whether a root of an application is empty, except for a few words while it loads. */
  #lookInside(root: Element): void {
    if (this.#emptyRoot) return;
    let letters = 0;
    let seen = 0;
    let node = following(root, root);
    while (node && letters <= ROOT_LETTERS && seen++ < ROOT_NODES) {
      if (node.type === TEXT) letters += weigh(node.value);
      node = following(node, root, isElement(node) && NOT_SHOWN.has(node.name));
    }
    this.#emptyRoot = node === null && letters <= ROOT_LETTERS;
  }

  facts(): BlockedPageFacts {
    const headings = this.#headings
      .map(({ text, isBeside, isLogo }) => ({
        text: normalized(text.slice(0, MAX_LINE_CHARACTERS)),
        isTopic: !isBeside && !isLogo,
      }))
      .filter(({ text }) => text !== '');
    return {
      title: this.#title,
      headings: headings.map(({ text }) => text),
      topics: headings.filter(({ isTopic }) => isTopic).map(({ text }) => text),
      body: normalized(orElse(this.#body, this.#cited).slice(0, MAX_BODY_CHARACTERS)),
      text: normalized(orElse(this.#text, this.#quoted).slice(0, MAX_BODY_CHARACTERS)),
      ownLetters: this.#own,
      letters: this.#all,
      consentLetters: this.#consent,
      otherLetters: this.#all - this.#consent,
      buttons: this.#buttons.filter(Boolean),
      ...this.#counts,
      headingAfterLogin: this.#isAfterLogin ? normalized(this.#main?.text.slice(0, MAX_LINE_CHARACTERS) ?? '') : '',
      verses: this.#verses,
      emptyRoot: this.#emptyRoot,
      noscript: normalized(this.#noscript),
      noscriptLetters: this.#noscriptLetters,
      marks: this.#marks.join('\n'),
    };
  }
}

/** A text with fewer letters than this says nothing, so what it cites counts instead. */
const MIN_LETTERS = 20;

const orElse = (text: string, cited: string): string => (weigh(text) < MIN_LETTERS ? text + cited : text);

const extended = (text: string, more: string): string => (text.length < MAX_BODY_CHARACTERS ? text + more : text);

const isVerse = (line: string): boolean => {
  const letters = line.length > MAX_LINE_CHARACTERS ? 0 : weigh(line);
  return letters >= MIN_VERSE_LETTERS && letters <= MAX_VERSE_LETTERS && !NO_VERSE.test(line);
};

/** Whether a link stands between words. */
const isInSentence = ({ prev, next }: Element): boolean =>
  [prev, next].some(
    (node) => node?.type === TEXT && weigh(node.value.slice(0, MAX_LINE_CHARACTERS)) > MIN_WORD_LETTERS,
  );
const MIN_WORD_LETTERS = 3;

const HOME = /^(?:https?:\/\/[^/]{1,100})?\/?(?:index\.\w{1,5})?$/i;

const isLinkHome = (node: Parent | null): boolean =>
  node !== null && isElement(node) && node.name === 'a' && HOME.test(attribute(node, 'href') ?? '-');

const ROOT_LETTERS = 40;
const ROOT_NODES = 200;

const isRoot = (element: Element): boolean => element.name === 'app-root' || ROOTS.test(attribute(element, 'id') ?? '');

/** Pictures that only count visits. */
const isTiny = (element: Element): boolean =>
  /^[01](?:px)?$/.test(attribute(element, 'width') ?? '') || /^[01](?:px)?$/.test(attribute(element, 'height') ?? '');

/** Only what takes no space: elements that scripts fade in are transparent at first. */
const HIDING_STYLE = /(?:^|[;\s])(?:display\s*:\s*none|visibility\s*:\s*hidden)/i;
/** React streams parts of a page in hidden elements with such ids, and its scripts show them. */
const STREAMED = /^S:/;

function isHidden(element: Element): boolean {
  if (hasAttribute(element, HIDDEN_ATTRIBUTE)) return true;
  if (hasAttribute(element, 'hidden')) return !STREAMED.test(attribute(element, 'id') ?? '');
  const style = attribute(element, 'style');
  return style !== null && HIDING_STYLE.test(style.slice(0, MAX_LINE_CHARACTERS));
}
