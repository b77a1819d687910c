/**
 * Pages that are a set of frames and have no body: what stands in them becomes one. A browser has written the documents
 * of the frames into the page; without one there are the frames' URLs and what the page says to those who see no frames.
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

/** Gives the document a body, in place. True when it is a frameset whose frames were not read. */
export function settleFrames(document: Document): boolean {
  const body = find(document, 'body');
  const set = body ? null : find(document, 'frameset');
  if (set) {
    fromSource(document, set);
    return true;
  }
  const isSet = body !== null && attribute(body, FRAME_ATTRIBUTE) === FRAMESET;
  if (isSet) removeAttribute(body, FRAME_ATTRIBUTE);
  const isFilled = [...elements(body ?? document)].some(
    (element) => attribute(element, FRAME_ATTRIBUTE) !== null && /\S/.test(textOf(element)),
  );
  for (const element of elements(document, 'noframes')) {
    // In other places, and beside frames that are there, nobody sees it.
    if (isSet && !isFilled) open(element);
    else detach(element);
  }
  return isSet && !isFilled;
}

function fromSource(document: Document, set: Element): void {
  const body = new Element('body');
  insertBefore(body, set);
  for (const element of [...elements(document)]) {
    if (element.name === 'frame') append(body, linkTo(element));
    if (element.name !== 'noframes') continue;
    append(body, element);
    open(element);
  }
  detach(set);
}

/** A frame that was not read, as a link to what it shows. */
function linkTo(frame: Element): Element {
  const url = attribute(frame, 'src')?.trim() ?? '';
  const paragraph = new Element('p');
  if (url === '' || url === 'about:blank') return paragraph;
  const link = new Element('a', 'html', [{ name: 'href', value: url }]);
  append(link, new Text(attribute(frame, 'title') || attribute(frame, 'name') || url));
  append(paragraph, link);
  return paragraph;
}

/** What stands in `noframes` is parsed as text. */
function open(noframes: Element): void {
  for (const child of [...children(parseFragment(textOf(noframes)))]) insertBefore(child, noframes);
  detach(noframes);
}
