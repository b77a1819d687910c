/** Parts that help to use a page on a screen and are no text of it: edit links, copy buttons, versions for print. */
import { attribute, type Element, following, TEXT } from '#html/node.ts';

/** MediaWiki's edit links; and parts that common style sheets show only on paper, where they repeat the page. */
const TOOL_CLASSES =
  /(?:^|\s)(?:mw-editsection|printfooter|print-?only|only-?print|visible-print(?:-block|-inline|-inline-block)?|show-for-print)(?:\s|$)/;
/** Bootstrap needs two classes for the same. */
const HIDDEN_ON_SCREEN = /(?:^|\s)d-none(?:\s|$)/;
const SHOWN_IN_PRINT = /(?:^|\s)d-print-(?:block|inline|inline-block|flex|grid|table)(?:\s|$)/;

const BUTTONS = new Set(['button', 'clipboard-copy']);
const BUTTON_CLASSES = /copy|clipboard/i;
const COPY_WORDS =
  /^(?:(?:copy|copied)!?|copy(?: the| this)? (?:code|link|text|snippet|command|url|to (?:the )?clipboard|code to (?:the )?clipboard)|copy copied!?|(?:code |link )?kopieren|copier(?: le code)?|copiar(?: código)?|copia(?: codice)?|(?:с)?копировать(?: код)?|复制(?:代码)?|複製(?:程式碼)?|(?:コードを)?コピー(?:する)?|(?:코드 )?복사)$/i;
const MAX_WORDS_CHARACTERS = 40;
const MAX_NODES = 20;

export function isPageTool(element: Element): boolean {
  const classes = attribute(element, 'class') ?? '';
  if (classes !== '') {
    if (TOOL_CLASSES.test(classes)) return true;
    if (HIDDEN_ON_SCREEN.test(classes) && SHOWN_IN_PRINT.test(classes)) return true;
  }
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
