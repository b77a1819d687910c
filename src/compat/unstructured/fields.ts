/** The fields of Unstructured's `/general/v0/general` (docs/reference/wire/compat.md, Unstructured). */
import * as z from 'zod';
import { booleanText, formList, numberText } from '../fields.ts';

const count = (min: number) => numberText().pipe(z.number().int().min(min));

export const GENERAL_FIELDS = z.object({
  strategy: z
    .enum(['auto', 'fast', 'hi_res', 'ocr_only', 'od_only', 'vlm'])
    .default('auto')
    .meta({ description: 'Ignored: the reader decides for each page.' }),
  chunking_strategy: z
    .enum(['', 'none', 'basic', 'by_title', 'by_page'])
    .default('none')
    .meta({ description: 'How elements are combined.' }),
  max_characters: count(1).default(500).meta({ description: 'Maximum length of a chunk.' }),
  new_after_n_chars: count(0).optional().meta({ description: 'Length from which a chunk takes no more elements.' }),
  combine_under_n_chars: count(0).optional().meta({ description: 'Sections shorter than this are combined.' }),
  overlap: count(0).default(0).meta({ description: 'Characters that a part of a long element repeats.' }),
  overlap_all: booleanText().default(false).meta({ description: 'Whether all chunks repeat the end of the last.' }),
  multipage_sections: booleanText().default(true).meta({ description: 'Whether a section may span pages.' }),
  include_orig_elements: booleanText().default(true).meta({ description: 'Adds the elements of each chunk.' }),
  coordinates: booleanText().default(false).meta({ description: 'Adds the rectangles of elements of PDFs.' }),
  languages: formList().optional().meta({ description: 'Languages for the metadata. Default: the one detected.' }),
  content_type: z.string().optional().meta({ description: 'The media type of the files.' }),
  gz_uncompressed_content_type: z.string().optional().meta({ description: 'Decompresses files, to this media type.' }),
  include_page_breaks: booleanText().default(false).meta({ description: 'Adds elements between pages.' }),
  pdf_infer_table_structure: booleanText().default(true).meta({ description: 'Tables of PDFs as HTML.' }),
  skip_infer_table_types: formList().optional().meta({ description: 'Extensions of files without HTML tables.' }),
  extract_image_block_types: formList().optional().meta({ description: '`Image` adds pictures in base64.' }),
  output_format: z.enum(['application/json', 'text/csv']).default('application/json'),
  unique_element_ids: booleanText().default(false).meta({ description: 'Random ids, in place of hashes.' }),
  starting_page_number: count(1).default(1).meta({ description: 'The number of the first page.' }),
});
export type GeneralFields = z.output<typeof GENERAL_FIELDS>;

/** Known fields without an effect. */
export const IGNORED_FIELDS = [
  'encoding',
  'hi_res_model_name',
  'ocr_languages',
  'xml_keep_tags',
  'include_slide_notes',
  'similarity_threshold',
  'table_ocr_agent',
];
