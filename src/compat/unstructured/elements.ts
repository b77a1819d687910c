/** Writes the elements of a document in Unstructured's format. */
import { createHash, randomUUID } from 'node:crypto';
import { TYPES } from '#documents/detect.ts';
import type { ContentElement, Page } from '#reader/index.ts';
import { guessLanguage } from '#search/index.ts';
import { withDataUrls } from '../documents/pictures.ts';
import { tableXhtml } from '../documents/xhtml.ts';
import type { ReadAnswer } from '../native/read.ts';
import type { GeneralFields } from './fields.ts';
import { threeLetterCode } from './languages.ts';

export interface UnstructuredElement {
  readonly type: string;
  readonly element_id: string;
  readonly text: string;
  readonly metadata: Readonly<Record<string, unknown>>;
}

type PageFacts = NonNullable<Page['pages']>[number] | undefined;

/** Pixels per point: 200 dpi. */
const SCALE = 200 / 72;

const TYPES_OF_KINDS: Readonly<Record<ContentElement['kind'], string>> = {
  heading: 'Title',
  paragraph: 'NarrativeText',
  'list item': 'ListItem',
  table: 'Table',
  code: 'CodeSnippet',
  formula: 'Formula',
  picture: 'Image',
  caption: 'FigureCaption',
  quote: 'NarrativeText',
};

export function toElements(
  { page, rendition }: ReadAnswer,
  filename: string,
  asked: GeneralFields,
): UnstructuredElement[] {
  const { mediaType = '' } = rendition;
  const elements = withDataUrls(rendition.elements ?? [], rendition);
  const common = { filename, filetype: mediaType, ...languagesOf(elements, asked), ...mailOf(page, mediaType) };
  const idOf = createIds(filename, asked);
  const pages = new Map((page.pages ?? []).map((facts) => [facts.number, facts]));
  const out: UnstructuredElement[] = [];
  let title: string | undefined;
  let last: number | undefined;
  for (const element of elements) {
    const image = imageOf(element, asked);
    const facts = element.page === undefined ? undefined : pages.get(element.page);
    if (element.kind === 'picture' && element.text === '' && !image) continue;
    const number = element.page === undefined ? undefined : element.page + asked.starting_page_number - 1;
    if (asked.include_page_breaks && last !== undefined && number !== undefined && number !== last) {
      out.push({ type: 'PageBreak', element_id: idOf('', number), text: '', metadata: common });
    }
    last = number ?? last;
    const id = idOf(element.text, number);
    const isTitle = element.kind === 'heading';
    out.push({
      type: typeOf(element),
      element_id: id,
      text: element.text,
      metadata: {
        ...common,
        ...(number !== undefined && { page_number: number }),
        ...sheetName(facts, mediaType),
        ...(title !== undefined && !isTitle && { parent_id: title }),
        ...(element.level !== undefined && { category_depth: element.level - 1 }),
        ...tableHtml(element, mediaType, asked),
        ...linksOf(element),
        ...emphasisOf(element),
        ...coordinatesOf(element, facts, asked),
        ...image,
      },
    });
    if (isTitle) title = id;
  }
  return out;
}

/** Equal texts on one page get different ids. */
function createIds(filename: string, { unique_element_ids: unique }: GeneralFields) {
  let index = 0;
  return (text: string, page: number | undefined): string => {
    index += 1;
    if (unique) return randomUUID();
    return createHash('sha256').update([filename, page, index, text].join('\0')).digest('hex').slice(0, 32);
  };
}

/** Words from which a text without an end mark counts as a sentence. */
const SENTENCE_WORDS = 12;
const SENTENCE_END = /[.!?…。！？؟।]["'”’»)\]]*$/u;

function typeOf({ kind, text }: ContentElement): string {
  if (kind !== 'paragraph') return TYPES_OF_KINDS[kind];
  if (/^[^\s@]{1,64}@[^\s@]+\.[^\s@]{2,}$/.test(text)) return 'EmailAddress';
  return SENTENCE_END.test(text) || text.split(/\s+/).length >= SENTENCE_WORDS ? 'NarrativeText' : 'UncategorizedText';
}

function languagesOf(elements: readonly ContentElement[], { languages }: GeneralFields): { languages?: string[] } {
  if (languages?.length) return { languages };
  const code = threeLetterCode(guessLanguage(elements.map(({ text }) => text).join('\n')));
  return code === undefined ? {} : { languages: [code] };
}

function mailOf({ metadata = {}, title }: Page, mediaType: string): Record<string, unknown> {
  if (mediaType !== TYPES.eml && mediaType !== TYPES.msg) return {};
  const { from, to } = metadata;
  return {
    ...(from && { sent_from: [from] }),
    ...(to && { sent_to: to.split(/,\s*/) }),
    ...(title && { subject: title }),
  };
}

const SHEETS: ReadonlySet<string> = new Set([TYPES.xlsx, TYPES.xls, TYPES.ods]);

const sheetName = (facts: PageFacts, mediaType: string) =>
  SHEETS.has(mediaType) && facts?.name !== undefined ? { page_name: facts.name } : {};

function tableHtml(element: ContentElement, mediaType: string, asked: GeneralFields): { text_as_html?: string } {
  if (!element.rows) return {};
  const isPdf = mediaType === TYPES.pdf;
  const extension = extensionOf(mediaType);
  if ((isPdf && !asked.pdf_infer_table_structure) || asked.skip_infer_table_types?.includes(extension)) return {};
  return { text_as_html: tableXhtml(element.rows) };
}

const extensionOf = (mediaType: string): string =>
  Object.entries(TYPES).find(([, type]) => type === mediaType)?.[0] ?? mediaType.split('/')[1] ?? '';

const linksOf = ({ links }: ContentElement) =>
  links && {
    link_urls: links.map(({ url }) => url),
    link_texts: links.map(({ text }) => text),
    link_start_indexes: links.map(({ start }) => start),
  };

const emphasisOf = ({ emphasis }: ContentElement) =>
  emphasis && {
    emphasized_text_contents: emphasis.map(({ text }) => text),
    emphasized_text_tags: emphasis.map(({ tag }) => tag),
  };

function coordinatesOf({ box }: ContentElement, size: PageFacts, { coordinates }: GeneralFields) {
  if (!coordinates || !box || size?.width === undefined || size.height === undefined) return {};
  const [left, top, right, bottom] = [box.x, box.y, box.x + box.width, box.y + box.height].map(pixels);
  return {
    coordinates: {
      points: [
        [left, top],
        [left, bottom],
        [right, bottom],
        [right, top],
      ],
      system: 'PixelSpace',
      layout_width: pixels(size.width),
      layout_height: pixels(size.height),
    },
  };
}

const pixels = (points: number): number => Math.round(points * SCALE * 10) / 10;

function imageOf({ kind, url }: ContentElement, { extract_image_block_types: wanted = [] }: GeneralFields) {
  if (kind !== 'picture' || !wanted.some((type) => type.toLowerCase() === 'image')) return undefined;
  const found = /^data:(image\/[a-z+.-]+);base64,(.+)$/s.exec(url ?? '');
  return found ? { image_base64: found[2], image_mime_type: found[1] } : undefined;
}
