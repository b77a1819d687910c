/** The public interface of the search module. */
export type { FillProgress, FillSummary } from './index/fill/fill.ts';
export { fill, openIndexOf } from './index/fill/run-fill.ts';
export type { IndexEmbedder, IndexStats, LocalIndex, PassageReranker } from './index/local-index.ts';
export { moveIndex } from './index/move-index.ts';
export { openLocalIndex } from './index/open.ts';
export { cutPassages } from './index/passages/cut-passages.ts';
export { POSTGRES_MIGRATIONS } from './index/store/postgres-migrations.ts';
export { guessLanguage } from './index/text/guess-language.ts';
export { indexUrl } from './index/write/prepare-page.ts';
export { createIndexingReader } from './indexing-reader.ts';
export { formatText } from './layout.ts';
export { openSearch, type SearchTools } from './open.ts';
export { composeText, GIVEN_OPERATORS } from './operators.ts';
export { ALL_OPTIONS, gatherSearch, MAX_QUERY_CHARACTERS, requireText } from './options.ts';
export { parseQuery } from './query.ts';
export type { Answer, Search, SearchRequest } from './search.ts';
export { resolveType, SEARCH_TYPES } from './source-groups.ts';
export { createConnections } from './source-limiter.ts';
