/** The dialects that this server speaks. */
import type { Dialect } from './dialect.ts';
import { lectern } from './lectern/lectern.ts';
import { searxng } from './searxng/searxng.ts';

export const DIALECTS: readonly Dialect[] = [lectern, searxng];
