/** Reads and writes the vectors of the index in OpenSearch, and searches them with its k-NN plugin. */
import { quantizedValues, similarity } from '../../vectors/quantize.ts';
import type { CodeRow, IndexStore, UnembeddedRow } from '../index-store.ts';
import { type BulkOperation, numberOf, type SearchHit } from './client.ts';
import { vectorField, vectorMapping } from './mapping.ts';
import type { OpenSearchTools } from './opensearch-index.ts';
import { all, none, oneOf, PASSAGES } from './queries.ts';

type VectorQueries = Pick<
  IndexStore,
  'lastPassage' | 'withoutVector' | 'writeCodes' | 'nearest' | 'codesFrom' | 'codes'
>;

/** A document that was removed or replaced in the meantime is no failure. */
const GONE = [404, 409];

export function vectorQueries({ client, conditions, each }: OpenSearchTools): VectorQueries {
  const mapped = new Set<string>();

  async function mapField(field: string, dimensions: number): Promise<void> {
    if (mapped.has(field)) return;
    const cluster = await client();
    await cluster.send('PUT', `${cluster.index}/_mapping`, { properties: { [field]: vectorMapping(dimensions) } });
    mapped.add(field);
  }

  async function codes(model: string, ids: readonly number[]): Promise<Map<number, Uint8Array>> {
    const found = new Map<number, Uint8Array>();
    if (ids.length === 0) return found;
    for await (const hits of each(all([oneOf('id', ids), oneOf('model', [model])]), { _source: ['id', 'code'] }))
      for (const hit of hits) found.set(Number(hit._source!.id), codeOf(hit));
    return found;
  }

  return {
    async lastPassage() {
      const { aggregations } = await (await client()).search({
        size: 0,
        query: PASSAGES,
        aggs: { last: { max: { field: 'id' } } },
      });
      return aggregations!.last!.value ?? 0;
    },
    async withoutVector(model, after, limit) {
      const { hits } = await (await client()).search({
        query: all([{ range: { id: { gt: after } } }, none([oneOf('model', [model])])]),
        size: limit,
        sort: [{ id: 'asc' }],
        _source: ['id', 'title', 'heading', 'text'],
      });
      return hits.hits.map(({ _source }) => _source as unknown as UnembeddedRow);
    },
    async writeCodes(model, given) {
      const byId = new Map(given.map(({ id, code }) => [id, code]));
      const operations: BulkOperation[] = [];
      const wanted = { _source: ['id'], seq_no_primary_term: true };
      for await (const hits of each(all([oneOf('id', [...byId.keys()]), none([oneOf('model', [model])])]), wanted)) {
        for (const { _id, _source, _seq_no, _primary_term } of hits) {
          const code = byId.get(Number(_source!.id))!;
          const values = [...quantizedValues(code)];
          const field = vectorField(model, values.length);
          await mapField(field, values.length);
          // The cosine with a zero vector is not defined, and OpenSearch refuses it.
          const near = values.some((value) => value !== 0) && { [field]: values };
          const part = { model, code: Buffer.from(code).toString('base64'), ...near };
          operations.push({ id: _id, part, seen: { seqNo: _seq_no!, primaryTerm: _primary_term! } });
        }
      }
      const results = await (await client()).bulk(operations);
      const failed = results.find(({ error, status }) => error !== undefined && !GONE.includes(status));
      if (failed) throw new Error(`OpenSearch did not store a vector: ${failed.error?.reason ?? failed.status}`);
    },
    async nearest(model, vector, filters, limit) {
      if (!vector.some((value) => value !== 0)) return [];
      const field = vectorField(model, vector.length);
      await mapField(field, vector.length);
      const filter = all([...(await conditions(filters)), oneOf('model', [model])]);
      const { hits } = await (await client()).search({
        _source: ['id', 'code'],
        size: limit,
        query: { knn: { [field]: { vector: [...vector], k: limit, filter } } },
      });
      // The scale of the scores depends on the version of OpenSearch, so the cosines are computed from the vectors.
      return hits.hits
        .map((hit) => ({ id: Number(hit._source!.id), similarity: similarity(vector, codeOf(hit)) }))
        .sort((a, b) => b.similarity - a.similarity || a.id - b.id);
    },
    async codesFrom(model, seq, limit) {
      const { hits } = await (await client()).search({
        query: all([{ range: { id: { gte: seq } } }, oneOf('model', [model])]),
        size: limit,
        sort: [{ id: 'asc' }],
        _source: ['code', 'owner'],
        docvalue_fields: ['id'],
      });
      return hits.hits.map((hit): CodeRow => {
        const id = numberOf(hit, 'id');
        return { seq: id, id, code: codeOf(hit), owner: String(hit._source!.owner) };
      });
    },
    codes,
  };
}

const codeOf = ({ _source }: SearchHit): Uint8Array => new Uint8Array(Buffer.from(String(_source!.code), 'base64'));
