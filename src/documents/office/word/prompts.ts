/**
 * Prompts in content controls: `Click here to enter text.` Word marks a control that shows its prompt
 * (`w:showingPlcHdr`, ISO/IEC 29500-1, section 17.5.2.39), but programs that fill in a control often leave the mark.
 */
import { SKIP, walk } from '../../xml/walk.ts';
import { child, childAt, children, textOf, type XmlElement } from '../../xml/xml.ts';
import { isOn, type Styles, valOf } from './styles.ts';

/** The name of Word's style for prompts, in lower case. */
const PROMPT_STYLE = 'placeholder text';
/** Longer texts are not prompts. Also bounds the work for controls inside controls. */
const LONGEST_PROMPT = 2_000;
const MOST_ELEMENTS = 2_000;

/** `glossary` is the root of the part with the building blocks of the document, among them its prompts. */
export function createPromptTest(
  styles: Styles,
  glossary: () => XmlElement | undefined,
): (control: XmlElement) => boolean {
  let prompts: ReadonlyMap<string, string> | undefined;
  return (control) => {
    const properties = child(control, 'w:sdtPr');
    if (isOn(properties, 'w:showingPlcHdr') !== true) return false;
    const content = child(control, 'w:sdtContent');
    if (!content) return false;
    const { text, isStyled, complete } = textIn(content, styles);
    if (!complete) return false;
    prompts ??= promptsOf(glossary());
    const prompt = prompts.get(valOf(child(properties, 'w:placeholder'), 'w:docPart') ?? '');
    return prompt === undefined ? isStyled : prompt === text;
  };
}

/** The building blocks of a document by name. */
function promptsOf(glossary: XmlElement | undefined): ReadonlyMap<string, string> {
  return new Map(
    children(child(glossary, 'w:docParts'), 'w:docPart').map((part) => [
      valOf(child(part, 'w:docPartPr'), 'w:name') ?? '',
      squeeze(shownText(child(part, 'w:docPartBody'))),
    ]),
  );
}

/** White space differs between a prompt and its copies. */
const squeeze = (text: string): string => text.replace(/\s+/g, '');

/** The text of the runs in an element. */
export function shownText(element: XmlElement | undefined): string {
  let text = '';
  if (element) {
    walk(element, {
      enter(node) {
        if (node.name === 'w:t') text += textOf(node);
        return undefined;
      },
    });
  }
  return text;
}

/** The text of a content control, and whether all of it has the style of prompts. */
function textIn(content: XmlElement, styles: Styles) {
  let text = '';
  let isStyled = true;
  let left = MOST_ELEMENTS;
  walk(content, {
    enter(node) {
      left -= 1;
      if (left < 0 || text.length > LONGEST_PROMPT) return SKIP;
      if (node.name !== 'w:r') return undefined;
      const own = children(node, 'w:t').map(textOf).join('');
      const style = valOf(childAt(node, 'w:rPr'), 'w:rStyle');
      if (own.trim() !== '' && (style === undefined || styles.nameOf(style) !== PROMPT_STYLE)) isStyled = false;
      text += own;
      return undefined;
    },
  });
  return { text: squeeze(text), isStyled, complete: left >= 0 && text.length <= LONGEST_PROMPT };
}
