export { type Chat, type ChatMessage, type ChatPart, type ChatRequest, createModels, type Models } from './generate.ts';
export { createOcr, type Ocr, type OcrResult } from './ocr.ts';
