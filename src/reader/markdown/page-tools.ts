/** Parts that help to use a page on a screen and are no text of it: edit links, copy buttons, versions for print. */
import { attribute, type Child, type Document, ELEMENT, type Element, following, TEXT } from '#html/node.ts';

/** MediaWiki's edit links. */
const EDIT_LINK = /(?:^|\s)mw-editsection(?:\s|$)/;
/** Parts that common style sheets show only on paper. */
const FOR_PRINT =
  /(?:^|\s)(?:printfooter|print-?only|only-?print|visible-print(?:-block|-inline|-inline-block)?|show-for-print)(?:\s|$)/;
/** Bootstrap needs two classes for the same. */
const HIDDEN_ON_SCREEN = /(?:^|\s)d-none(?:\s|$)/;
const SHOWN_IN_PRINT = /(?:^|\s)d-print-(?:block|inline|inline-block|flex|grid|table)(?:\s|$)/;
/** A part for print with at most this many words is a note, such as the address of the page. */
const MAX_NOTE_WORDS = 20;
/** Least share of the words of a longer part that occur elsewhere on the page if it is a version of the page for print. */
const MIN_REPEATED_SHARE = 0.5;

/** Fonts that draw a word as an icon, and the elements that are written in them. */
const ICON_FONT =
  /(?:^|\s)(?:material-(?:icons|symbols)(?:-[a-z]+)?|google-material-icons|google-symbols|mat-icon)(?:\s|$)/;
const ICON_CLASSES = /icon/i;
const ICON_NAME = /^[a-z][a-z0-9]*(?:_[a-z0-9]+)*$/;

const BUTTONS = new Set(['button', 'clipboard-copy']);
const BUTTON_CLASSES = /copy|clipboard/i;
const COPY_WORDS =
  /^(?:(?:copy|copied)!?|copy(?: the| this)? (?:code|link|text|snippet|command|url|item path|to (?:the )?clipboard|code to (?:the )?clipboard)|copy copied!?|(?:code |link )?kopieren|copier(?: le code)?|copiar(?: código)?|copia(?: codice)?|(?:с)?копировать(?: код)?|复制(?:代码)?|複製(?:程式碼)?|(?:コードを)?コピー(?:する)?|(?:코드 )?복사)$/i;
const MAX_WORDS_CHARACTERS = 40;
const MAX_NODES = 20;

export interface PageTools {
  has(element: Element): boolean;
}

/** Occurs in the class of every tool that is recognized by its class, except buttons. Most elements need no further test. */
const NAMED = /edit|print|icon|symbol|line-?n/i;

/** Finds the tools of a page. Its parts for print are read when the first of them is asked for. */
export function createPageTools(root: Document | Element): PageTools {
  let forPrint: ReadonlySet<Element> | undefined;
  return {
    has(element) {
      const classes = attribute(element, 'class') ?? '';
      if (classes !== '' && NAMED.test(classes)) {
        if (EDIT_LINK.test(classes)) return true;
        if (isForPrint(classes)) {
          forPrint ??= findPrintVersions(root);
          if (forPrint.has(element)) return true;
        }
        if (isLineNumbers(element, classes) || isIcon(element, classes)) return true;
      }
      if (element.name === 'mat-icon') return ICON_NAME.test(shortText(element));
      // MediaWiki's line below the title, which its style sheet hides.
      if (element.name === 'div' && attribute(element, 'id') === 'siteSub') return true;
      return isCopyButton(element, classes);
    },
  };
}

const isForPrint = (classes: string): boolean =>
  FOR_PRINT.test(classes) || (HIDDEN_ON_SCREEN.test(classes) && SHOWN_IN_PRINT.test(classes));

/**
 * The parts for print that are notes or repeat the page. Some sites give the same classes to the text that they show on
 * screen and print as well, so the classes alone prove nothing.
 */
function findPrintVersions(root: Document | Element): Set<Element> {
  const parts: { readonly element: Element; readonly texts: string[] }[] = [];
  const outside = new Set<string>();
  /** The texts of the outermost part for print around the node, and the node after that part. */
  let texts: string[] | null = null;
  let end: Child | null = null;
  let node = following(root, root);
  while (node) {
    if (node === end) texts = null;
    if (node.type === TEXT) {
      const text = lettersOf(node.value);
      if (text !== '') {
        if (texts) texts.push(text);
        else outside.add(text);
      }
    } else if (node.type === ELEMENT && !texts && isForPrint(attribute(node, 'class') ?? '')) {
      texts = [];
      parts.push({ element: node, texts });
      end = following(node, root, true) as Child | null;
    }
    node = following(node, root);
  }
  const found = new Set<Element>();
  for (const { element, texts } of parts) {
    let all = 0;
    let repeated = 0;
    for (const text of texts) {
      const words = text.split(' ').length;
      all += words;
      if (outside.has(text)) repeated += words;
    }
    if (all <= MAX_NOTE_WORDS || repeated >= all * MIN_REPEATED_SHARE) found.add(element);
  }
  return found;
}

const lettersOf = (text: string): string =>
  text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();

const LINE_NUMBERS = /(?:^|\s)line-?numbers?(?:-wrapper)?(?:\s|$)/;
const NUMBERS = /^[\d\s]*$/;

/** Whether an element holds only the numbers of the lines of the code beside it. */
function isLineNumbers(element: Element, classes: string): boolean {
  if (!LINE_NUMBERS.test(classes) || element.name === 'pre') return false;
  for (let node = following(element, element); node; node = following(node, element))
    if (node.type === TEXT && !NUMBERS.test(node.value)) return false;
  return true;
}

/** Whether an element is an icon that is written as a word: `<i class="material-icons">arrow_back</i>`. */
function isIcon(element: Element, classes: string): boolean {
  if (ICON_FONT.test(classes)) return ICON_NAME.test(shortText(element));
  if (!ICON_CLASSES.test(classes) || attribute(element, 'aria-hidden') !== 'true') return false;
  const text = shortText(element);
  return text.includes('_') && ICON_NAME.test(text);
}

function isCopyButton(element: Element, classes: string): boolean {
  const isButton = BUTTONS.has(element.name) || BUTTON_CLASSES.test(classes) || attribute(element, 'role') === 'button';
  return isButton && COPY_WORDS.test(shortText(element));
}

/** The text of an element with few words; '' for one with more. */
export function shortText(element: Element): string {
  let text = '';
  let node = following(element, element);
  for (let nodes = 0; node; node = following(node, element)) {
    if (++nodes > MAX_NODES) return '';
    if (node.type === TEXT) text += node.value;
    if (text.length > 4 * MAX_WORDS_CHARACTERS) return '';
  }
  const words = text.replace(/\s+/g, ' ').trim();
  return words.length > MAX_WORDS_CHARACTERS ? '' : words;
}
