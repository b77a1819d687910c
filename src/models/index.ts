export type { ChatFetch } from './backends/chat.ts';
export {
  type Chat,
  type ChatAnswer,
  type ChatDelta,
  type ChatMessage,
  type ChatPart,
  type ChatRequest,
  createModels,
  type JsonFormat,
  type ModelSettings,
  type Models,
} from './generate.ts';
export { createOcr, type Ocr, type OcrOptions, type OcrResult } from './ocr.ts';
