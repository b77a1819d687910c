/** The fields of docling-serve's requests, and what they are in ours (docs/reference/wire/compat.md, docling-serve). */
import * as z from 'zod';
import { booleanText, formList, numberText, readFields } from '../fields.ts';
import { sentFields } from '../ignored.ts';

const FORMATS = ['md', 'json', 'html', 'html_split_page', 'text'] as const;

const formats = () =>
  formList()
    .refine(
      (list) => list.every((word) => FORMATS.some((format) => format === word)),
      `must be among ${FORMATS.join(', ')}`,
    )
    .transform((list) => new Set(list as (typeof FORMATS)[number][]));

export const OPTION_FIELDS = z.object({
  to_formats: formats()
    .default(new Set(['md'] as const))
    .meta({ description: 'Formats of the result.' }),
  from_formats: formList().optional().meta({ description: 'Kinds of files to convert; others are skipped.' }),
  image_export_mode: z
    .enum(['placeholder', 'embedded', 'referenced'])
    .default('placeholder')
    .meta({ description: '`retainImages`: a comment, a data URL or a URL of this server.' }),
  include_images: booleanText().default(true).meta({ description: '`false` leaves pictures out.' }),
  page_range: formList()
    .refine(
      (list) => list.length === 2 && list.every((word) => /^\d+$/.test(word)) && Number(list[0]) >= 1,
      'must be two page numbers, from 1',
    )
    .refine((list) => Number(list[0]) <= Number(list[1]), 'must be in order')
    .transform(([first, last]): [number, number] => [Number(first), Number(last)])
    .optional()
    .meta({ description: 'The first and the last page.' }),
  md_page_break_placeholder: z.string().default('').meta({ description: 'Text between the pages of the Markdown.' }),
  document_timeout: numberText()
    .pipe(z.number().positive())
    .optional()
    .meta({ description: '`timeout`, in seconds, at most 180.' }),
});
export type DoclingOptions = z.output<typeof OPTION_FIELDS>;

/** Known options without an effect; the reader decides by itself. */
const IGNORED = [
  'force_ocr',
  'ocr_engine',
  'ocr_preset',
  'ocr_lang',
  'pdf_backend',
  'pipeline',
  'table_mode',
  'table_cell_matching',
  'images_scale',
  'abort_on_error',
  'do_code_enrichment',
  'do_formula_enrichment',
  'do_picture_classification',
  'do_picture_description',
  'do_chart_extraction',
  'picture_description_local',
  'picture_description_api',
  'picture_description_preset',
  'vlm_pipeline_preset',
  'vlm_pipeline_custom_config',
  'do_chunking',
];
/** Options that are on by default and cannot be turned off. */
const ALWAYS_ON = ['do_ocr', 'do_table_structure'];

export function readOptions(given: Readonly<Record<string, unknown>>): {
  readonly options: DoclingOptions;
  readonly ignored: string[];
} {
  const isOff = (name: string) => Object.hasOwn(given, name) && /^(?:false|0|off|no)$/i.test(String(given[name]));
  const sent = sentFields(given, IGNORED).filter((name) => !isOff(name));
  return { options: readFields(OPTION_FIELDS, given), ignored: [...sent, ...ALWAYS_ON.filter(isOff)] };
}
