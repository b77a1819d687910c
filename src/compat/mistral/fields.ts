/** The fields of Mistral's `/v1/ocr` (docs/reference/wire/compat.md, Mistral OCR). */
import * as z from 'zod';
import { booleanText } from '../fields.ts';

const PAGES = 'must be page numbers from 0, such as [0, 2] or "0-3,5"';
/** Pages in one list; a range counts its pages. */
const MAX_PAGES = 10_000;

/** The pages of `0-3,5`; `undefined` if it is malformed. */
function pagesIn(text: string): number[] | undefined {
  const pages: number[] = [];
  for (const part of text.split(',')) {
    const found = /^\s*(\d{1,6})(?:\s*-\s*(\d{1,6}))?\s*$/.exec(part);
    if (!found) return undefined;
    const first = Number(found[1]);
    const last = Number(found[2] ?? found[1]);
    if (last < first || pages.length + last - first >= MAX_PAGES) return undefined;
    for (let page = first; page <= last; page++) pages.push(page);
  }
  return pages;
}

const pages = () =>
  z
    .union([z.array(z.number().int().min(0)).max(MAX_PAGES), z.string()], PAGES)
    .transform((given) => (typeof given === 'string' ? pagesIn(given) : given))
    .refine((list): list is number[] => list !== undefined && list.length > 0, PAGES);

const url = () => z.union([z.string(), z.object({ url: z.string() }).transform((image) => image.url)]);

export const OCR_FIELDS = z.object({
  model: z.string().default('mistral-ocr-latest').meta({ description: 'Any name of an OCR model.' }),
  document: z
    .discriminatedUnion('type', [
      z.object({ type: z.literal('document_url'), document_url: z.string(), document_name: z.string().nullish() }),
      z.object({ type: z.literal('image_url'), image_url: url() }),
      z.object({ type: z.literal('file'), file_id: z.string() }),
    ])
    .meta({ description: 'A URL, a data URL, or the id of an uploaded file.' }),
  pages: pages().optional().meta({ description: 'Pages to return, from 0.' }),
  include_image_base64: booleanText().default(false).meta({ description: 'Adds the pictures, also those of PDFs.' }),
  image_limit: z.number().int().min(0).optional().meta({ description: 'Maximum number of pictures.' }),
  table_format: z
    .enum(['markdown', 'html'])
    .optional()
    .meta({ description: 'Takes tables out of the Markdown, into `tables`.' }),
  include_blocks: booleanText().default(false).meta({ description: 'Adds the blocks of PDFs with their places.' }),
});
export type OcrFields = z.output<typeof OCR_FIELDS>;

/** Known fields without an effect. */
export const IGNORED_OCR_FIELDS = [
  'image_min_size',
  'extract_header',
  'extract_footer',
  'confidence_scores_granularity',
];

/** Fields that need a model that this server does not call here. */
export const REFUSED_OCR_FIELDS = [
  'bbox_annotation_format',
  'document_annotation_format',
  'document_annotation_prompt',
];
