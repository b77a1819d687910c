/**
 * Handles pages that consist of a set of frames and have no body: the frames become the body. The browser engine has
 * already written the frame documents into the page. Without a browser, the body contains links to the frames and the
 * `noframes` text.
 */
import {
  append,
  attribute,
  children,
  type Document,
  detach,
  Element,
  elements,
  find,
  insertBefore,
  removeAttribute,
  Text,
  textOf,
} from '#html/node.ts';
import { parseFragment } from '#html/parse.ts';
import { FRAME_ATTRIBUTE, FRAMESET } from './snapshot.ts';

/** Adds a body to the document, in place. Returns true if the document is a frameset with frames that were not read. */
export function replaceFrameset(document: Document): boolean {
  const body = find(document, 'body');
  const set = body ? null : find(document, 'frameset');
  if (set) {
    buildBody(document, set);
    return true;
  }
  const isSet = body !== null && attribute(body, FRAME_ATTRIBUTE) === FRAMESET;
  if (isSet) removeAttribute(body, FRAME_ATTRIBUTE);
  const isFilled = [...elements(body ?? document)].some(
    (element) => attribute(element, FRAME_ATTRIBUTE) !== null && /\S/.test(textOf(element)),
  );
  for (const element of elements(document, 'noframes')) {
    // On other pages, and if the frames were read, `noframes` elements are invisible.
    if (isSet && !isFilled) unwrap(element);
    else detach(element);
  }
  return isSet && !isFilled;
}

function buildBody(document: Document, set: Element): void {
  const body = new Element('body');
  insertBefore(body, set);
  for (const element of [...elements(document)]) {
    if (element.name === 'frame') append(body, linkToFrame(element));
    if (element.name !== 'noframes') continue;
    append(body, element);
    unwrap(element);
  }
  detach(set);
}

/** A paragraph with a link to a frame that was not read. */
function linkToFrame(frame: Element): Element {
  const url = attribute(frame, 'src')?.trim() ?? '';
  const paragraph = new Element('p');
  if (url === '' || url === 'about:blank') return paragraph;
  const link = new Element('a', 'html', [{ name: 'href', value: url }]);
  append(link, new Text(attribute(frame, 'title') || attribute(frame, 'name') || url));
  append(paragraph, link);
  return paragraph;
}

/** Replaces `noframes` with its content, which the parser stores as text. */
function unwrap(noframes: Element): void {
  for (const child of [...children(parseFragment(textOf(noframes)))]) insertBefore(child, noframes);
  detach(noframes);
}
