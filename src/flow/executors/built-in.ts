/** The built-in executors. */
import type { ExecutorClass } from '../executor.ts';
import { chunkExecutor } from './chunk.ts';
import { embedExecutor } from './embed.ts';
import { indexExecutor } from './index-documents.ts';
import { ocrExecutor } from './ocr.ts';
import { readExecutor } from './read.ts';
import { rerankExecutor } from './rerank.ts';
import { searchExecutor } from './search.ts';
import type { BuiltInTools } from './tools.ts';

/** Names that `uses` may refer to. */
export const BUILT_IN_NAMES: readonly string[] = ['Read', 'Chunk', 'Embed', 'Rerank', 'Index', 'Search', 'Ocr'];

/** The built-in executors by name. */
export const createBuiltIns = (tools: BuiltInTools): Readonly<Record<string, ExecutorClass>> => ({
  Read: readExecutor(tools.reading),
  Chunk: chunkExecutor(tools.cut),
  Embed: embedExecutor(tools.embed),
  Rerank: rerankExecutor(tools.rerank),
  Index: indexExecutor(tools.openCollection),
  Search: searchExecutor(tools.openCollection),
  Ocr: ocrExecutor(tools.ocr),
});
