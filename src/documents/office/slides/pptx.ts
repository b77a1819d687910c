/** Office Open XML presentations (ECMA-376 part 1, 19): one page per slide. */
import { DocumentError, type DocumentKind, type DocumentPage } from '../../document.ts';
import { attribute, child, children, type XmlElement } from '../../xml/xml.ts';
import { PageComments } from '../annotations.ts';
import { HtmlOutput } from '../html-output.ts';
import { openPackage, type Package } from '../package.ts';
import { createDraw } from '../pictures.ts';
import { readProperties } from '../properties.ts';
import { commentsHtml, createCommentFinder } from './comments.ts';
import { createParentsReader } from './placeholders.ts';
import { readSlide } from './slide.ts';
import { namedPage, plainTitle } from './title.ts';

const MAX_SLIDES = 10_000;
/** English Metric Units in a point: ECMA-376 part 1, 20.1.2.1. */
const EMU_PER_POINT = 12_700;

export const kind: DocumentKind = {
  async parse(_file, bytes, { page, annotations }) {
    const source = openPackage(bytes);
    const part =
      source.relationships('').find(({ type }) => type === 'officeDocument')?.target ?? 'ppt/presentation.xml';
    const root = source.xml(part);
    if (root?.name !== 'p:presentation') {
      throw new DocumentError('damaged', 'The content of the PowerPoint file is missing or damaged');
    }
    const notes: string[] = [];
    const slides = slidesOf(source, part, root, notes);
    const shown = slides.filter((slide) => !isHidden(slide.root));
    const output = new HtmlOutput();
    const draw = createDraw((name) => source.bytes(name));
    const groundOf = createParentsReader(source, child(root, 'p:defaultTextStyle'));
    const size = sizeOf(root);
    const pageSize = size && { width: size.width / EMU_PER_POINT, height: size.height / EMU_PER_POINT };
    const comments = new PageComments(annotations);
    const commentsOf = createCommentFinder(source, part);
    const pages: DocumentPage[] = [];
    let hiddenCount = slides.length - shown.length;
    let title = '';
    for (const [at, slide] of shown.entries()) {
      const isAsked = page === undefined || page > shown.length || page === at + 1;
      if (!isAsked && (at > 0 || title !== '')) continue;
      const read = readSlide(slide.root, { source, draw, ground: groundOf(slide.part), part: slide.part, size });
      if (at === 0) title = plainTitle(read.title);
      if (!isAsked) continue;
      hiddenCount += read.hiddenCount;
      output.write(read.html);
      if (comments.shown) output.write(commentsHtml(commentsOf(slide.part), comments));
      pages.push({ number: at + 1, html: output.takeHtml(), ...namedPage(read.title), ...pageSize });
    }
    if (output.full) notes.push('The presentation is too large to be shown in full');
    if (!source.complete) notes.push('The file is cut off; only the readable part is included');
    const about = readProperties(source);
    return {
      // PowerPoint gives this default title to every new file.
      title: about.title === '' || about.title === 'PowerPoint Presentation' ? title : about.title,
      pages,
      pageCount: shown.length,
      metadata: about.metadata,
      publishedTime: about.publishedTime,
      lang: about.language,
      notes,
      hiddenCount,
      picturesLeftOut: draw.leftOut(),
    };
  },
};

interface SlidePart {
  readonly part: string;
  readonly root: XmlElement;
}

function slidesOf(source: Package, part: string, root: XmlElement, notes: string[]): SlidePart[] {
  const targets = new Map(source.relationships(part).map(({ id, target, external }) => [id, external ? '' : target]));
  const slides: SlidePart[] = [];
  for (const [at, entry] of children(child(root, 'p:sldIdLst'), 'p:sldId').slice(0, MAX_SLIDES).entries()) {
    const slidePart = targets.get(attribute(entry, 'r:id') ?? '') ?? '';
    const slide = source.xml(slidePart);
    if (slide) slides.push({ part: slidePart, root: slide });
    else notes.push(`Slide ${at + 1} could not be read`);
  }
  return slides;
}

const isHidden = (slide: XmlElement): boolean => /^(?:0|false)$/.test(attribute(slide, 'show') ?? '');

function sizeOf(root: XmlElement) {
  const size = child(root, 'p:sldSz');
  const [width, height] = [Number(size && attribute(size, 'cx')), Number(size && attribute(size, 'cy'))];
  return width > 0 && height > 0 ? { width, height } : undefined;
}
