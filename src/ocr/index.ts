/** Text recognition (OCR): turns images of pages into text in reading order. */
export type { OcrBox, OcrWord } from './hocr.ts';
export { layOut, type OcrBlock } from './layout/layout.ts';
export { withoutRunningText } from './layout/running-text.ts';
export { boundsOf } from './layout/segments.ts';
export { createOcr, InvalidImageError, type Ocr, type OcrResult } from './ocr.ts';
export { blocksToHtml, blocksToText } from './output/html.ts';
export { blocksToMarkdown } from './output/markdown.ts';
export type { OcrRequest } from './remote/messages.ts';
export { createRemoteOcr } from './remote/ocr.ts';
export { createOcrWorker } from './remote/worker.ts';
export { ocrWarnings } from './warnings.ts';
