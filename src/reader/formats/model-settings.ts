/** The settings that configure each model, by the names used in messages. */
export const VISION_SETTINGS =
  'a vision model: set LECTERN_VISION_URL and LECTERN_VISION_MODEL (or LECTERN_CHAT_URL and LECTERN_CHAT_MODEL)';
export const READERLM_SETTINGS =
  'a language model: set LECTERN_READERLM_URL and LECTERN_READERLM_MODEL (or LECTERN_CHAT_URL and LECTERN_CHAT_MODEL)';
export const OCR_SETTINGS = 'text recognition: set LECTERN_OCR_URL and LECTERN_OCR_MODEL or LECTERN_TESSERACT';
