export {
  type Chat,
  type ChatMessage,
  type ChatPart,
  type ChatRequest,
  createModels,
  type Models,
  modelNames,
} from './chat/chat.ts';
export type { CompletionPiece } from './completions/complete.ts';
export {
  type CompletionModel,
  type Completions,
  createCompletions,
  type ModelNames,
} from './completions/completions.ts';
export { CHAT_FIELDS } from './completions/fields.ts';
export { type Embeddings, embed, refuseZeros, rowsOf } from './embed/embed.ts';
export { EMBED_FIELDS } from './embed/fields.ts';
export { type EmbedRequest, readEmbedRequest, sizesOf } from './embed/request.ts';
export { SIDES, TASKS } from './embed/tasks.ts';
export { asBase64, asBits, finishVector, vectorAsJson } from './embed/vectors.ts';
export type { PullPlan, PullProgress } from './hub/hub.ts';
export { type LibraryModel, type ModelLibrary, modelsDir, openLibrary } from './hub/library.ts';
export { createFaults, FAULT_TYPES, type Faults } from './inputs/faults.ts';
export { findField, type RequestField, readInteger, readText, readWord } from './inputs/fields.ts';
export { MAX_INPUTS } from './inputs/inputs.ts';
export { capabilitiesOf, mediaNotes, modalitiesOf } from './registry/capabilities.ts';
export type { EmbeddingRow, ModelRow } from './registry/catalogue.ts';
export { type ModelHost, openModelHost } from './registry/model-host.ts';
export {
  type BackendFactory,
  type ModelRuntime,
  type OnBatch,
  openModelRuntime,
  type RequestContext,
} from './registry/model-runtime.ts';
export {
  createRegistry,
  isEmbedding,
  type Registry,
  type ServedEmbedding,
  type ServedModel,
  type ServedReranker,
} from './registry/registry.ts';
export { RERANK_FIELDS, type RerankRequest, readRerankRequest } from './rerank/request.ts';
export { type Ranked, rerank } from './rerank/rerank.ts';
export { detokenize, idsOfPieces, tokenize } from './tokens.ts';
export type { ModelRequest } from './workers/messages.ts';
export { createModelWorker } from './workers/worker.ts';
