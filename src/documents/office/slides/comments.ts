/** Comments on slides: those of PowerPoint up to 2019 (ECMA-376 part 1, 19.4), and the newer threads (MS-PPTX, 2.6). */
import { walk } from '../../xml/walk.ts';
import { attribute, child, children, find, textOf, type XmlElement } from '../../xml/xml.ts';
import { type Comment, comment, type PageComments } from '../annotations.ts';
import type { Package } from '../package.ts';

const MAX_COMMENTS = 10_000;

/** The namespaces of the newer parts differ by version, so names are compared without prefix. */
const localName = ({ name }: XmlElement): string => name.slice(name.indexOf(':') + 1);

/** `presentation` is the part that refers to the authors. */
export function createCommentFinder(source: Package, presentation: string) {
  let authors: ReadonlyMap<string, string> | undefined;
  const readAuthors = () =>
    new Map(
      source
        .relationships(presentation)
        .filter(({ type }) => /^(?:commentAuthors|authors)$/.test(type))
        .flatMap(({ target }) => children(source.xml(target)))
        .map((author) => [attribute(author, 'id') ?? '', attribute(author, 'name') ?? '']),
    );
  return (slide: string): Comment[] => {
    const parts = source.relationships(slide).filter(({ type, external }) => type === 'comments' && !external);
    if (parts.length === 0) return [];
    authors ??= readAuthors();
    return parts.flatMap(({ target }) => commentsIn(source.xml(target), authors!)).slice(0, MAX_COMMENTS);
  };
}

function commentsIn(root: XmlElement | undefined, authors: ReadonlyMap<string, string>): Comment[] {
  const found: Comment[] = [];
  if (!root) return found;
  walk(root, {
    enter(element) {
      if (!/^(?:cm|reply)$/.test(localName(element)) || found.length >= MAX_COMMENTS) return undefined;
      const author = authors.get(attribute(element, 'authorId') ?? '') ?? '';
      found.push(comment(author, textIn(element)));
      return undefined;
    },
  });
  return found.filter(({ text }) => text !== '');
}

function textIn(element: XmlElement): string {
  const plain = child(element, 'p:text');
  if (plain) return textOf(plain);
  const body = children(element).find((one) => localName(one) === 'txBody');
  if (!body || !find(body, 'a:t')) return '';
  return children(body, 'a:p').map(textOf).join(' ');
}

/** A paragraph for each comment, and the footnotes if the comments are written as such. */
export function commentsHtml(found: readonly Comment[], comments: PageComments): string {
  const paragraphs = found.map((about) => `<p>${comments.html(about).trim()}</p>`);
  return paragraphs.length === 0 ? '' : `\n${paragraphs.join('\n')}${comments.takeNotes()}`;
}
