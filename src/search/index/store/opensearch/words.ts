/** Searches the index in OpenSearch by words. */
import type { Filters } from '../../query/filters.ts';
import type { Slot } from '../../text/terms.ts';
import type { IndexStore, WeightedSlot } from '../index-store.ts';
import { numberOf } from './client.ts';
import { BM25_SCALE } from './mapping.ts';
import type { OpenSearchTools } from './opensearch-index.ts';
import { oneOf, PASSAGES, type Query, slotIn } from './queries.ts';

/** A word is frequent if more than this share of all passages contain it, and at least this many passages. */
const FREQUENT_SHARE = 1 / 8;
const FREQUENT_AT_LEAST = 2_000;
/** BM25 without the inverse document frequency of a term that occurs once in a passage of average length. */
const USUAL_BM25 = 1 / BM25_SCALE;

const IDS = { _source: false, docvalue_fields: ['id', 'page'] };

export function wordQueries({
  client,
  conditions,
}: OpenSearchTools): Pick<IndexStore, 'byWords' | 'coverage' | 'newest'> {
  /** Omits frequent words if there are rarer ones, as in the other stores. */
  async function weigh(slots: readonly Slot[]): Promise<WeightedSlot[]> {
    const filters = Object.fromEntries(slots.map((slot, at) => [`s${at}`, slotIn('terms', slot)]));
    const { hits, aggregations } = await (await client()).search({
      size: 0,
      track_total_hits: true,
      query: PASSAGES,
      aggs: { slots: { filters: { filters } } },
    });
    const total = hits.total!.value;
    const counts = aggregations!.slots!.buckets as Readonly<Record<string, { readonly doc_count: number }>>;
    const counted = slots.map((slot, at) => ({ slot, count: counts[`s${at}`]!.doc_count }));
    if (!counted.some(({ count }) => count > 0)) return [];
    const bound = Math.max(FREQUENT_AT_LEAST, total * FREQUENT_SHARE);
    const rare = counted.filter(({ count }) => count <= bound);
    return (rare.some(({ count }) => count > 0) ? rare : counted).map(({ slot, count }) => ({
      slot,
      weight: Math.log(1 + (total - count + 0.5) / (count + 0.5)),
    }));
  }

  /** The score of a prefix does not depend on how often it occurs. */
  const scoring = ({ slot, weight }: WeightedSlot): Query[] =>
    slot.prefix
      ? [{ constant_score: { filter: slotIn('terms', slot), boost: weight * USUAL_BM25 } }]
      : slot.terms.map((term) => ({ term: { terms: { value: term } } }));

  return {
    async byWords(given, filters: Filters, limit) {
      if (given.length === 0) return { matches: [], slots: [] };
      const slots = await weigh(given);
      if (slots.length === 0) return { matches: [], slots };
      const total = slots.reduce((sum, { weight }) => sum + weight, 0);
      const { hits } = await (await client()).search({
        ...IDS,
        query: {
          bool: { filter: await conditions(filters), should: slots.flatMap(scoring), minimum_should_match: 1 },
        },
        size: limit,
        track_scores: true,
        sort: [{ _score: 'desc' }, { id: 'asc' }],
      });
      const matches = hits.hits.map((hit) => ({
        id: numberOf(hit, 'id'),
        page: numberOf(hit, 'page'),
        score: ((hit._score ?? 0) * BM25_SCALE) / total,
      }));
      return { matches, slots };
    },
    async coverage(slots, ids) {
      if (ids.length === 0) return new Map();
      const having = slots.map(({ slot, weight }) => ({
        constant_score: { filter: slotIn('terms', slot), boost: weight },
      }));
      const { hits } = await (await client()).search({
        ...IDS,
        query: { bool: { filter: [oneOf('id', ids)], should: having, minimum_should_match: 1 } },
        size: ids.length,
      });
      return new Map(hits.hits.map((hit) => [numberOf(hit, 'id'), hit._score ?? 0]));
    },
    async newest(filters, limit) {
      const { hits } = await (await client()).search({
        ...IDS,
        query: { bool: { filter: [...(await conditions(filters)), { term: { first: true } }] } },
        size: limit,
        sort: [{ indexed_at: 'desc' }, { id: 'desc' }],
      });
      return hits.hits.map((hit) => numberOf(hit, 'id'));
    },
  };
}
