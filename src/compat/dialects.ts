/** The dialects that this server speaks. */
import { brave } from './brave/brave.ts';
import { crawl4ai } from './crawl4ai/crawl4ai.ts';
import type { Dialect } from './dialect.ts';
import { exa } from './exa/exa.ts';
import { lectern } from './lectern/lectern.ts';
import { openwebui } from './openwebui/openwebui.ts';
import { searxng } from './searxng/searxng.ts';
import { segmenter } from './segmenter/segmenter.ts';
import { serper } from './serper/serper.ts';
import { tavily } from './tavily/tavily.ts';

export const DIALECTS: readonly Dialect[] = [
  lectern,
  brave,
  crawl4ai,
  exa,
  openwebui,
  searxng,
  segmenter,
  serper,
  tavily,
];
