/** The dialects that this server speaks. */
import type { Dialect } from './dialect.ts';
import { firecrawl } from './firecrawl/firecrawl.ts';
import { lectern } from './lectern/lectern.ts';
import { openwebui } from './openwebui/openwebui.ts';
import { searxng } from './searxng/searxng.ts';
import { tavily } from './tavily/tavily.ts';

export const DIALECTS: readonly Dialect[] = [firecrawl, lectern, openwebui, searxng, tavily];
