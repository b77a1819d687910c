/** Writes, removes and counts the pages of the index in OpenSearch. */
import { ONLY_ALL } from '../../owners.ts';
import type { PreparedPage } from '../../write/prepare-page.ts';
import type { IndexStore } from '../index-store.ts';
import { roundsOf } from '../rounds.ts';
import type { Aggregation, OpenSearchClient } from './client.ts';
import { COUNTER_ID, documentId, documentsOf } from './mapping.ts';
import type { OpenSearchTools } from './opensearch-index.ts';
import { all, any, FIRST_PASSAGES, none, oneOf, PASSAGES } from './queries.ts';

const PRUNED_AT_ONCE = 50;
const MAX_LANGUAGES = 1_000;
const RETRIES_ON_CONFLICT = 10;

type PageQueries = Pick<IndexStore, 'write' | 'remove' | 'stats' | 'languages' | 'bytes' | 'prune' | 'clear'>;

interface KnownPage {
  readonly key: string;
  readonly hash: string;
  readonly indexedAt: number;
}

export function pageQueries({ client }: Pick<OpenSearchTools, 'client'>): PageQueries {
  /** Writes of this process take turns, because each looks up what is there first. */
  let writing: Promise<unknown> = Promise.resolve();

  async function writeRound(pages: readonly PreparedPage[]): Promise<PreparedPage[]> {
    const cluster = await client();
    const known = await pagesByHash(
      cluster,
      pages.map(({ hash }) => hash),
    );
    await touch(cluster, pages, known);
    const replaced = pages.filter(({ key, hash }) => known.get(hash)?.key !== key);
    const fresh = replaced.filter(({ hash }) => !known.has(hash));
    await insert(cluster, fresh);
    if (replaced.length > 0) await removeReplaced(cluster, replaced, fresh);
    return fresh;
  }

  async function sums(aggs: Readonly<Record<string, unknown>>): Promise<Readonly<Record<string, Aggregation>>> {
    const { aggregations } = await (await client()).search({ size: 0, query: PASSAGES, aggs });
    return aggregations!;
  }

  async function bytes(): Promise<number> {
    const { first } = await sums({ first: { filter: FIRST_PASSAGES, aggs: { bytes: { sum: { field: 'bytes' } } } } });
    return valueIn(first, 'bytes') ?? 0;
  }

  async function languages(): Promise<ReadonlyMap<string, number>> {
    const terms = { terms: { field: 'language', size: MAX_LANGUAGES } };
    const { first } = await sums({ first: { filter: FIRST_PASSAGES, aggs: { languages: terms } } });
    return bucketsOf(first!.languages as Aggregation);
  }

  return {
    async write(pages) {
      const added = new Set<PreparedPage>();
      const work = writing.then(async () => {
        for (const round of roundsOf(pages)) for (const page of await writeRound(round)) added.add(page);
      });
      writing = work.catch(() => {});
      await work;
      return pages.map((page) => added.has(page));
    },
    remove: async (url) => (await (await client()).deleteByQuery(oneOf('url', [url]))) > 0,
    async stats(model) {
      const { first, vectors, passages } = await sums({
        passages: { filter: PASSAGES },
        vectors: { filter: model === undefined ? { exists: { field: 'model' } } : oneOf('model', [model]) },
        first: {
          filter: FIRST_PASSAGES,
          aggs: {
            bytes: { sum: { field: 'bytes' } },
            oldest: { min: { field: 'indexed_at' } },
            onlyAll: { filter: oneOf('owner', [ONLY_ALL]) },
            languages: { terms: { field: 'language', size: MAX_LANGUAGES } },
          },
        },
      });
      const counts = [...bucketsOf(first!.languages as Aggregation)].filter(([language]) => language !== '');
      return {
        pages: first!.doc_count!,
        passages: passages!.doc_count!,
        vectors: vectors!.doc_count!,
        bytes: valueIn(first, 'bytes') ?? 0,
        onlyAll: (first!.onlyAll as Aggregation).doc_count!,
        oldestAt: valueIn(first, 'oldest') ?? undefined,
        languages: Object.fromEntries(counts),
      };
    },
    languages,
    bytes,
    async prune(maxBytes) {
      let pruned = 0;
      for (;;) {
        const pages: number[] = [];
        let excess = (await bytes()) - maxBytes;
        if (excess <= 0) return pruned;
        const { hits } = await (await client()).search({
          query: FIRST_PASSAGES,
          size: PRUNED_AT_ONCE,
          sort: [{ indexed_at: 'asc' }, { id: 'asc' }],
          _source: ['page', 'bytes'],
        });
        for (const { _source } of hits.hits) {
          if (excess <= 0) break;
          pages.push(Number(_source!.page));
          excess -= Number(_source!.bytes);
        }
        if (pages.length === 0) return pruned;
        await (await client()).deleteByQuery(oneOf('page', pages));
        pruned += pages.length;
      }
    },
    async clear() {
      await (await client()).deleteByQuery(PASSAGES);
    },
  };
}

async function pagesByHash(cluster: OpenSearchClient, hashes: readonly string[]): Promise<Map<string, KnownPage>> {
  const { hits } = await cluster.search({
    query: all([FIRST_PASSAGES, oneOf('hash', hashes)]),
    size: hashes.length,
    _source: ['key', 'hash', 'indexed_at'],
  });
  return new Map(
    hits.hits.map(({ _source }) => {
      const { key, hash, indexed_at } = _source as { key: string; hash: string; indexed_at: number };
      return [hash, { key, hash, indexedAt: indexed_at }];
    }),
  );
}

/** Marks pages whose content is in the index as read again. */
async function touch(
  cluster: OpenSearchClient,
  pages: readonly PreparedPage[],
  known: ReadonlyMap<string, KnownPage>,
): Promise<void> {
  const newer = pages.flatMap(({ hash, indexedAt }) => {
    const page = known.get(hash);
    return page && page.indexedAt < indexedAt ? [{ id: documentId(page.key, 0), part: { indexed_at: indexedAt } }] : [];
  });
  // A page that has been removed in the meantime stays removed.
  await cluster.bulk(newer);
}

async function insert(cluster: OpenSearchClient, pages: readonly PreparedPage[]): Promise<void> {
  if (pages.length === 0) return;
  const passages = pages.reduce((sum, page) => sum + page.passages.length, 0);
  let next = await takeIds(cluster, passages);
  const documents = pages.flatMap((page) => {
    const own = documentsOf(page, next);
    next += own.length;
    return own;
  });
  const results = await cluster.bulk(documents);
  const failed = results.find(({ error }) => error !== undefined);
  if (!failed) return;
  // Either all pages or none, as far as OpenSearch allows it.
  await cluster
    .deleteByQuery(
      oneOf(
        'hash',
        pages.map(({ hash }) => hash),
      ),
    )
    .catch(() => {});
  throw new Error(`OpenSearch did not store a passage: ${failed.error?.reason ?? failed.status}`);
}

/** Takes numbers that no other server takes. Returns the first one. */
async function takeIds(cluster: OpenSearchClient, count: number): Promise<number> {
  const { get } = await cluster.send<{ get: { _source: { next: number } } }>(
    'POST',
    `${cluster.index}/_update/${COUNTER_ID}?retry_on_conflict=${RETRIES_ON_CONFLICT}`,
    {
      script: { lang: 'painless', source: 'ctx._source.next += params.count', params: { count } },
      upsert: { next: count },
      _source: true,
    },
  );
  return get._source.next - count + 1;
}

/** Removes what remains of earlier versions, and pages of owner `all` at the same URLs. */
async function removeReplaced(
  cluster: OpenSearchClient,
  replaced: readonly PreparedPage[],
  fresh: readonly PreparedPage[],
): Promise<void> {
  const isNew = any(fresh.map(({ key, hash }) => all([oneOf('key', [key]), oneOf('hash', [hash])])));
  const isOld = any([
    oneOf(
      'key',
      replaced.map(({ key }) => key),
    ),
    all([
      oneOf('owner', [ONLY_ALL]),
      oneOf(
        'url',
        replaced.map(({ url }) => url),
      ),
    ]),
  ]);
  await cluster.deleteByQuery(fresh.length > 0 ? all([isOld, none([isNew])]) : isOld);
}

const valueIn = (parent: Aggregation | undefined, name: string): number | null | undefined =>
  (parent![name] as Aggregation).value;

const bucketsOf = ({ buckets }: Aggregation): ReadonlyMap<string, number> =>
  new Map(
    (buckets as readonly { readonly key: string; readonly doc_count: number }[]).map(({ key, doc_count }) => [
      key,
      doc_count,
    ]),
  );
