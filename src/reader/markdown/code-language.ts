/** The language of code, from the classes and attributes that highlighters add to it or around it. */
import { attribute, ELEMENT, type Element, type Node } from '#html/node.ts';

const MARKED = /(?:^|\s)(?:language|lang|highlight-source|highlight-text|brush:?)[-:\s]\s*([\p{L}\p{N}_+#.-]+)/iu;
/** Sphinx: `highlight-python notranslate`; Jupyter: `hl-ipython3`. */
const SPHINX = /(?:^|\s)(?:highlight|hl)-([a-z][a-z\d+#]*)(?:\s|$)/i;
/** Highlighters that add the language as a second class next to their own. */
const BESIDE = /(?:^|\s)(?:hljs|sourceCode|prettyprint|shiki|chroma)\s+([a-z][\w+#-]*)/i;
const BEFORE = /(?:^|\s)([a-z][\w+#-]*)\s+hljs(?:\s|$)/i;
const NO_LANGUAGE =
  /^(?:(?:shiki|astro-code|vp|has|theme|wrap|line|scroll|group)(?:-.*)?|inline|none|no-?highlight|plain|plaintext|text|txt|default|auto|undefined|unknown|null|source|code|prettyprinted|linenums|numberlines|lineanchors|github.*|highlight|line-numbers|notranslate|copy.*|hljs|javascript-literals)$/i;
/** Languages whose name may stand alone as a class of the code itself, as rustdoc, TypeDoc, YARD and ExDoc write it. */
const LANGUAGES = new Set(
  (
    'bash c clojure cpp csharp css dart diff elixir erlang fsharp go graphql groovy haskell html http ini java javascript js ' +
    'json jsx julia kotlin lua makefile nix ocaml perl php powershell prolog protobuf python ruby rust scala scheme scss sh ' +
    'shell sql swift toml ts tsx typescript vue xml yaml yml zig'
  ).split(' '),
);
const LANGUAGE_NAME = /^[\p{L}\p{N}_+#.-]{1,40}$/u;
const LEVELS_UP = 3;
const TABLE_PARTS = new Set(['td', 'tr', 'tbody', 'table']);

/** The language as named by the page, in lower case; '' if it names none. */
export function codeLanguageOf(element: Element): string {
  const inner = onlyCodeChild(element);
  const own = (inner && ownLanguage(inner)) || ownLanguage(element);
  if (own) return own;
  let level = 0;
  for (let node: Node | null = element.parent; node?.type === ELEMENT && level < LEVELS_UP; node = node.parent) {
    const language = wrapperLanguage(node);
    if (language) return language;
    // A table has the line numbers in one cell and the code in another.
    if (!TABLE_PARTS.has(node.name)) level += 1;
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
  named(attribute(element, 'data-lang')) ||
  named(attribute(element, 'data-language')) ||
  named(attribute(element, 'language')) ||
  // Confluence: `brush: bash; gutter: true`.
  named(MARKED.exec(attribute(element, 'data-syntaxhighlighter-params') ?? '')?.[1]);

function ownLanguage(element: Element): string {
  const classes = attribute(element, 'class') ?? '';
  return (
    fromAttributes(element) ||
    named(MARKED.exec(classes)?.[1]) ||
    named(SPHINX.exec(classes)?.[1]) ||
    named(BESIDE.exec(classes)?.[1]) ||
    named(BEFORE.exec(classes)?.[1]) ||
    loneName(classes)
  );
}

function loneName(classes: string): string {
  const found = classes
    .toLowerCase()
    .split(/\s+/)
    .filter((name) => LANGUAGES.has(name));
  return found.length === 1 ? found[0]! : '';
}

function wrapperLanguage(element: Element): string {
  const classes = attribute(element, 'class') ?? '';
  const marked = fromAttributes(element) || named(MARKED.exec(classes)?.[1]) || named(SPHINX.exec(classes)?.[1]);
  return marked || (classes.includes('sourceCode') ? named(BESIDE.exec(classes)?.[1]) : '');
}
