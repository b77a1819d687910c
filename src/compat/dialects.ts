/** The dialects that this server speaks. */
import { brave } from './brave/brave.ts';
import { cohere } from './cohere/cohere.ts';
import { crawl4ai } from './crawl4ai/crawl4ai.ts';
import type { Dialect } from './dialect.ts';
import { docling } from './docling/docling.ts';
import { exa } from './exa/exa.ts';
import { firecrawl } from './firecrawl/firecrawl.ts';
import { gemini } from './gemini/gemini.ts';
import { lectern } from './lectern/lectern.ts';
import { mistral } from './mistral/mistral.ts';
import { ollama } from './ollama/ollama.ts';
import { openai } from './openai/openai.ts';
import { openwebui } from './openwebui/openwebui.ts';
import { searxng } from './searxng/searxng.ts';
import { segmenter } from './segmenter/segmenter.ts';
import { serper } from './serper/serper.ts';
import { tavily } from './tavily/tavily.ts';
import { tei } from './tei/tei.ts';
import { tika } from './tika/tika.ts';
import { unstructured } from './unstructured/unstructured.ts';
import { vllm } from './vllm/vllm.ts';
import { voyage } from './voyage/voyage.ts';

/** Dialects of model servers, which the model host has too. */
export const MODEL_DIALECTS: readonly Dialect[] = [tei, ollama, cohere, openai, voyage, vllm, gemini];

export const DIALECTS: readonly Dialect[] = [
  brave,
  crawl4ai,
  docling,
  exa,
  firecrawl,
  lectern,
  mistral,
  openwebui,
  searxng,
  segmenter,
  serper,
  tavily,
  tika,
  unstructured,
  ...MODEL_DIALECTS,
];
