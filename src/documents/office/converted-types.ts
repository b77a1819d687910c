/** Types of files that LibreOffice converts before they are read. */
import { TYPES } from '../detect.ts';

/** Old Office types and the new type to which each is converted before reading. */
export const CONVERTED_OFFICE_TYPES: Readonly<Record<string, 'docx' | 'xlsx' | 'pptx'>> = {
  [TYPES.doc]: 'docx',
  [TYPES.xls]: 'xlsx',
  [TYPES.ppt]: 'pptx',
};
