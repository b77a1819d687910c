/** Reads passages and pages of the index in OpenSearch. */
import type { IndexStore, PassageRow, StoredPage } from '../index-store.ts';
import { numberOf, type SearchHit } from './client.ts';
import type { OpenSearchTools } from './opensearch-index.ts';
import { all, FIRST_PASSAGES, oneOf } from './queries.ts';

/** The fields of a document that are read again. */
interface Stored {
  readonly id: number;
  readonly page: number;
  readonly key: string;
  readonly owner: string;
  readonly url: string;
  readonly host: string;
  readonly ext: string;
  readonly title: string;
  readonly description: string;
  readonly site_name: string;
  readonly language: string;
  readonly published_at: number | null;
  readonly indexed_at: number;
  readonly hash: string;
  readonly bytes: number;
  readonly heading: string;
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

const SHOWN = [
  ...['id', 'page', 'heading', 'text', 'start', 'end', 'url', 'title', 'description', 'site_name', 'language'],
  'published_at',
];
const PASSAGE = ['page', 'heading', 'text', 'start', 'end'];

const storedOf = ({ _source }: SearchHit): Stored => _source as unknown as Stored;

type ReadQueries = Pick<IndexStore, 'pagesOf' | 'filteredIds' | 'rows' | 'storedPages' | 'textsOf' | 'urlsAmong'>;

export function readQueries({ client, conditions, each }: OpenSearchTools): ReadQueries {
  return {
    async pagesOf(ids) {
      const pages = new Map<number, number>();
      const wanted = { _source: false, docvalue_fields: ['id', 'page'] };
      for await (const hits of each(oneOf('id', ids), wanted))
        for (const hit of hits) pages.set(numberOf(hit, 'id'), numberOf(hit, 'page'));
      return pages;
    },
    async filteredIds(filters) {
      const ids: number[] = [];
      const wanted = { _source: false, docvalue_fields: ['id'] };
      for await (const hits of each(all(await conditions(filters)), wanted))
        for (const hit of hits) ids.push(numberOf(hit, 'id'));
      return ids;
    },
    async rows(ids) {
      const rows: PassageRow[] = [];
      for await (const hits of each(oneOf('id', ids), { _source: SHOWN }))
        for (const hit of hits) {
          const { site_name: siteName, published_at: publishedAt, ...rest } = storedOf(hit);
          rows.push({ ...rest, siteName, publishedAt: publishedAt ?? null });
        }
      return rows;
    },
    async storedPages(after, limit) {
      const { hits } = await (await client()).search({
        query: all([FIRST_PASSAGES, { range: { page: { gt: after } } }]),
        size: limit,
        sort: [{ page: 'asc' }],
        _source: { excludes: ['*_terms', 'terms', 'near_*', 'code'] },
      });
      const pages = hits.hits.map(storedOf);
      const passages = new Map<number, StoredPage['passages'][number][]>();
      const ids = pages.map(({ page }) => page);
      if (ids.length > 0) {
        for await (const some of each(oneOf('page', ids), { _source: PASSAGE }))
          for (const hit of some) {
            const { page, heading, text, start, end } = storedOf(hit);
            passages.set(page, [...(passages.get(page) ?? []), { heading, text, start, end }]);
          }
      }
      return pages.map((page) => ({
        id: page.page,
        key: page.key,
        owner: page.owner,
        url: page.url,
        host: page.host,
        ext: page.ext,
        title: page.title,
        description: page.description,
        siteName: page.site_name,
        language: page.language,
        publishedAt: page.published_at ?? null,
        indexedAt: page.indexed_at,
        hash: page.hash,
        bytes: page.bytes,
        passages: passages.get(page.page) ?? [],
      }));
    },
    async urlsAmong(urls) {
      const found = new Set<string>();
      for await (const hits of each(all([FIRST_PASSAGES, oneOf('url', urls)]), { _source: ['url'] }))
        for (const hit of hits) found.add(storedOf(hit).url);
      return [...found];
    },
    async textsOf(page) {
      const texts: string[] = [];
      for await (const hits of each(oneOf('page', [page]), { _source: ['text'] }))
        for (const hit of hits) texts.push(storedOf(hit).text);
      return texts;
    },
  };
}
