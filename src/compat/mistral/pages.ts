/** Writes the pages of a document in Mistral's format. */
import { problem } from '#errors.ts';
import type { ContentElement } from '#reader/index.ts';
import { replaceImages } from '../documents/markdown-images.ts';
import { type PageText, pageTexts } from '../documents/page-texts.ts';
import { dataUrlsOf } from '../documents/pictures.ts';
import type { ReadAnswer } from '../native/read.ts';
import type { OcrFields } from './fields.ts';
import { type OcrTable, takeTables } from './tables.ts';

/** Resolution of the coordinates. */
const DPI = 200;
const SCALE = DPI / 72;
const IMAGE_DPI = 72;

export interface OcrPage {
  readonly index: number;
  readonly markdown: string;
  readonly images: readonly OcrImage[];
  readonly tables?: readonly OcrTable[];
  readonly hyperlinks: readonly string[];
  readonly header: null;
  readonly footer: null;
  readonly dimensions: { readonly dpi: number; readonly width: number; readonly height: number } | null;
  readonly blocks?: readonly object[];
}

interface Corners {
  readonly top_left_x: number;
  readonly top_left_y: number;
  readonly bottom_right_x: number;
  readonly bottom_right_y: number;
}

interface OcrImage extends Readonly<Record<keyof Corners, number | null>> {
  readonly id: string;
  readonly image_base64: string | null;
  readonly image_annotation: null;
}

export function toPages(answer: ReadAnswer, asked: OcrFields): OcrPage[] {
  const { page, rendition } = answer;
  const elements = rendition.elements ?? [];
  const byPage = new Map<number | undefined, ContentElement[]>();
  for (const element of elements) {
    const own = byPage.get(element.page);
    if (own) own.push(element);
    else byPage.set(element.page, [element]);
  }
  const chosen = chosenPages(pageTexts(page), asked);
  const images = createImages(answer, asked);
  let tableCount = 0;
  return chosen.map((text) => {
    const own = page.pages ? (byPage.get(text.number) ?? []) : elements;
    const { markdown, images: shown } = images.take(text.text, own);
    const { table_format: format } = asked;
    const taken = format && takeTables(markdown, own, { format, first: tableCount });
    tableCount += taken?.tables.length ?? 0;
    return {
      index: text.number - 1,
      markdown: taken?.markdown ?? markdown,
      images: shown,
      ...(taken && { tables: taken.tables }),
      hyperlinks: [...new Set(own.flatMap(({ links = [] }) => links.map(({ url }) => url)))],
      header: null,
      footer: null,
      dimensions: dimensionsOf(text, answer),
      ...(asked.include_blocks && { blocks: own.flatMap((element) => blockOf(element, images.idOf)) }),
    };
  });
}

function chosenPages(all: readonly PageText[], { pages }: OcrFields): readonly PageText[] {
  if (!pages) return all;
  const wanted = new Set(pages);
  const chosen = all.filter(({ number }) => wanted.has(number - 1));
  if (chosen.length > 0) return chosen;
  const message = `pages: the document has ${all.length} pages, which count from 0`;
  throw problem('ParamValidationError', { path: 'pages', message });
}

/** Images of the whole document have numbers in the order of the text. */
function createImages({ rendition }: ReadAnswer, { include_image_base64: withBytes, image_limit: limit }: OcrFields) {
  const dataUrls = dataUrlsOf(rendition);
  const ids = new Map<string, string>();
  return {
    idOf: (url: string | undefined) => (url === undefined ? undefined : ids.get(url)),
    take(text: string, elements: readonly ContentElement[]): { markdown: string; images: OcrImage[] } {
      const images = new Map<string, OcrImage>();
      const markdown = replaceImages(text, ({ url, alt }) => {
        const dataUrl = dataUrls.get(url);
        // Pictures on the web keep their URLs.
        if (dataUrl === undefined) return /^https?:/.test(url) ? `![${alt}](${url})` : '';
        if (!ids.has(url) && limit !== undefined && ids.size >= limit) return '';
        const extension = /^data:image\/([a-z]+)/.exec(dataUrl)?.[1] ?? 'png';
        const id = ids.get(url) ?? `img-${ids.size}.${extension}`;
        ids.set(url, id);
        const place = elements.find((element) => element.url === url);
        images.set(id, {
          id,
          ...(cornersOf(place) ?? NO_CORNERS),
          image_base64: withBytes ? dataUrl : null,
          image_annotation: null,
        });
        return `![${id}](${id})`;
      });
      return { markdown: markdown.trim(), images: [...images.values()] };
    },
  };
}

const NO_CORNERS = { top_left_x: null, top_left_y: null, bottom_right_x: null, bottom_right_y: null };

function cornersOf(element: ContentElement | undefined): Corners | undefined {
  if (!element?.box) return undefined;
  const { x, y, width, height } = element.box;
  return {
    top_left_x: pixels(x),
    top_left_y: pixels(y),
    bottom_right_x: pixels(x + width),
    bottom_right_y: pixels(y + height),
  };
}

const pixels = (points: number): number => Math.round(points * SCALE);

function dimensionsOf({ width, height }: PageText, { page, rendition }: ReadAnswer): OcrPage['dimensions'] {
  const { mediaType = '' } = rendition;
  if (mediaType.startsWith('image/')) {
    const [across, down] = [Number(page.metadata?.width), Number(page.metadata?.height)];
    return across > 0 && down > 0 ? { dpi: IMAGE_DPI, width: across, height: down } : null;
  }
  if (width === undefined || height === undefined) return null;
  return { dpi: DPI, width: pixels(width), height: pixels(height) };
}

const BLOCK_TYPES: Readonly<Record<ContentElement['kind'], string>> = {
  heading: 'title',
  paragraph: 'text',
  'list item': 'list',
  table: 'table',
  code: 'code',
  formula: 'equation',
  picture: 'image',
  caption: 'caption',
  quote: 'text',
};

/** Blocks need a place, which only PDFs have; pictures need an id. */
function blockOf(element: ContentElement, idOf: (url: string | undefined) => string | undefined): object[] {
  const corners = cornersOf(element);
  const image = idOf(element.url);
  if (!corners || (element.kind === 'picture' && image === undefined)) return [];
  return [
    {
      type: BLOCK_TYPES[element.kind],
      content: element.text,
      ...corners,
      ...(image !== undefined && { image_id: image }),
    },
  ];
}
