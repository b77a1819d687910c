/** The language of code, from the classes and attributes that highlighters add to it or around it. */
import { attribute, ELEMENT, type Element, type Node } from '#html/node.ts';

const MARKED = /(?:^|\s)(?:language|lang|highlight-source|highlight-text|brush:?)[-:\s]\s*([\p{L}\p{N}_+#.-]+)/iu;
/** Sphinx: `highlight-python notranslate`. */
const SPHINX = /(?:^|\s)highlight-([a-z\d+#]+)(?:\s|$)/i;
/** Highlighters that add the language as a second class next to their own. */
const BESIDE = /(?:^|\s)(?:hljs|sourceCode|prettyprint|shiki|chroma)\s+([a-z][\w+#-]*)/i;
const BEFORE = /(?:^|\s)([a-z][\w+#-]*)\s+hljs(?:\s|$)/i;
const NO_LANGUAGE =
  /^(?:none|no-?highlight|plain|plaintext|text|txt|default|auto|undefined|unknown|null|source|code|prettyprinted|linenums|numberlines|lineanchors|github.*|highlight|line-numbers|notranslate|copy.*|hljs|javascript-literals)$/i;
const LANGUAGE_NAME = /^[\p{L}\p{N}_+#.-]{1,40}$/u;
const LEVELS_UP = 3;

/** The language as named by the page, in lower case; '' if it names none. */
export function codeLanguageOf(element: Element): string {
  const inner = onlyCodeChild(element);
  const own = (inner && ownLanguage(inner)) || ownLanguage(element);
  if (own) return own;
  let node: Node | null = element.parent;
  for (let level = 0; node?.type === ELEMENT && level < LEVELS_UP; level++, node = node.parent) {
    const language = wrapperLanguage(node);
    if (language) return language;
  }
  return '';
}

const COPY_BUTTONS = new Set(['button', 'clipboard-copy']);

/** The code element that is the only content of a pre besides buttons, or null. */
export function onlyCodeChild(element: Element): Element | null {
  for (let node = element.first; node; node = node.next) {
    if (node.type === ELEMENT) {
      if (COPY_BUTTONS.has(node.name)) continue;
      return node.name === 'code' ? node : null;
    }
    if (node.type === 3 && node.value.trim() !== '') return null;
  }
  return null;
}

const named = (name: string | null | undefined): string => {
  const language = (name ?? '').trim().toLowerCase();
  return LANGUAGE_NAME.test(language) && !NO_LANGUAGE.test(language) ? language : '';
};

const fromAttributes = (element: Element): string =>
  named(attribute(element, 'data-lang')) || named(attribute(element, 'data-language'));

function ownLanguage(element: Element): string {
  const classes = attribute(element, 'class') ?? '';
  return (
    fromAttributes(element) ||
    named(MARKED.exec(classes)?.[1]) ||
    named(SPHINX.exec(classes)?.[1]) ||
    named(BESIDE.exec(classes)?.[1]) ||
    named(BEFORE.exec(classes)?.[1])
  );
}

function wrapperLanguage(element: Element): string {
  const classes = attribute(element, 'class') ?? '';
  const marked = fromAttributes(element) || named(MARKED.exec(classes)?.[1]) || named(SPHINX.exec(classes)?.[1]);
  return marked || (classes.includes('sourceCode') ? named(BESIDE.exec(classes)?.[1]) : '');
}
