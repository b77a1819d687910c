/**
 * Models on remote servers, each configured by the operator in one row. Their URLs are trusted and fetched within the
 * region (src/net/trusted.ts).
 */
export { createRemoteEmbedder } from '../remote/embedder.ts';
export type { RemoteRuns } from '../remote/protocols.ts';
export { createRemoteReranker } from '../remote/reranker.ts';
export type { RemoteTools } from '../remote/server.ts';
