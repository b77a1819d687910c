/** The dialects that this server speaks. */
import type { Dialect } from './dialect.ts';
import { firecrawl } from './firecrawl/firecrawl.ts';
import { docling } from './docling/docling.ts';
import { lectern } from './lectern/lectern.ts';
import { mistral } from './mistral/mistral.ts';
import { openwebui } from './openwebui/openwebui.ts';
import { searxng } from './searxng/searxng.ts';
import { tavily } from './tavily/tavily.ts';
import { tika } from './tika/tika.ts';
import { unstructured } from './unstructured/unstructured.ts';

export const DIALECTS: readonly Dialect[] = [
  docling,
  firecrawl,
  lectern,
  mistral,
  openwebui,
  searxng,
  tavily,
  tika,
  unstructured,
];
