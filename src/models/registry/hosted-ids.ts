/**
 * Model ids of the hosted service and their kinds (docs/reference/wire/models.md, Model kinds). An alias with one of
 * these ids accepts the fields of that kind.
 */
import type { EmbeddingKind } from './catalogue.ts';

const KNOWN: Readonly<Record<EmbeddingKind, readonly string[]>> = {
  'text-v2': ['base-en', 'base-zh', 'base-de', 'base-es', 'base-code', 'small-en'].map(
    (end) => `jina-embeddings-v2-${end}`,
  ),
  'text-v3': ['jina-embeddings-v3'],
  'omni-v4': ['jina-embeddings-v4'],
  'text-v5': ['jina-embeddings-v5-text-nano', 'jina-embeddings-v5-text-small'],
  'omni-v5': ['jina-embeddings-v5-omni-nano', 'jina-embeddings-v5-omni-small'],
  code: ['jina-code-embeddings-0.5b', 'jina-code-embeddings-1.5b'],
  'clip-v1': ['jina-clip-v1'],
  'clip-v2': ['jina-clip-v2'],
  colbert: ['jina-colbert-v1-en', 'jina-colbert-v2'],
  sparse: ['elser-v2'],
  m3: ['bge-m3'],
};

const KINDS = new Map(
  Object.entries(KNOWN).flatMap(([kind, ids]) => ids.map((id) => [id, kind as EmbeddingKind] as const)),
);

/** Rerankers of hosted services that clients have as their default, or in a fixed list. */
const HOSTED_RERANKERS: ReadonlySet<string> = new Set([
  ...['v1-base-en', 'v1-turbo-en', 'v1-tiny-en', 'v2-base-multilingual', 'm0', 'v3', 'v3.5'].map(
    (end) => `jina-reranker-${end}`,
  ),
  ...['v4.0-pro', 'v4.0-fast', 'v3.5', 'english-v3.0', 'multilingual-v3.0', 'english-v2.0', 'multilingual-v2.0'].map(
    (end) => `rerank-${end}`,
  ),
  ...['2.5', '2.5-lite', '2', '2-lite', '1', 'lite-1'].map((end) => `rerank-${end}`),
  'reranker',
]);

export const isHostedReranker = (id: string): boolean => HOSTED_RERANKERS.has(id);

export const knownKind = (id: string): EmbeddingKind | undefined => KINDS.get(id);
