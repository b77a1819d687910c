/** The search room's table of contents: what the doors may use. */
export type { FillProgress, FillSummary } from './index/fill.ts';
export { fill, openIndexOf } from './index/filler.ts';
export type { IndexEmbedder, IndexStats, LocalIndex, PassageReranker } from './index/local-index.ts';
export { openLocalIndex } from './index/open.ts';
export { cutPassages } from './index/passages.ts';
export { POSTGRES_MIGRATIONS } from './index/postgres-index.ts';
export { addressOf } from './index/prepare.ts';
export { textOf } from './layout.ts';
export { openSearch } from './open.ts';
export { composeText, GIVEN_OPERATORS } from './operators.ts';
export { ALL_OPTIONS, gatherSearch, requireText } from './options.ts';
export { readQuery } from './query.ts';
export { rememberingReader } from './remember.ts';
export type { Answer, Search, SearchRequest } from './search.ts';
