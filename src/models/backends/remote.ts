/**
 * Models on servers elsewhere, which the operator names row by row. Their addresses are trusted, and reached by a fetch
 * that keeps to the region (src/net/trusted.ts).
 */
export { createRemoteEmbedder } from '../remote/embedder.ts';
export type { RemoteRuns } from '../remote/protocols.ts';
export { createRemoteReranker } from '../remote/reranker.ts';
export type { RemoteTools } from '../remote/server.ts';
