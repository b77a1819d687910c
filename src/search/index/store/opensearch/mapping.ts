/** The index in OpenSearch: one document for each passage, which has the fields of its page too. */
import { createHash } from 'node:crypto';
import type { PreparedPage } from '../../write/prepare-page.ts';
import { countryOf, termsField } from './queries.ts';

/**
 * A term counts twice as often in the field `terms` as its weight says, so that the weights are whole numbers. With k1
 * doubled too, BM25 gives the same score as with the weights themselves.
 */
const REPEATS = { title: 6, heading: 4, body: 2, also: 1, address: 1 } as const;
const K1 = 2.4;
/** BM25 of Lucene lacks the constant factor k1 + 1, with the usual k1 of 1.2. */
export const BM25_SCALE = 2.2;

const keyword = { type: 'keyword' };
const long = { type: 'long' };
/** Terms are separated by spaces already. */
const terms = { type: 'text', analyzer: 'whitespace', norms: false };

/** Fields without a mapping, such as the text, are only stored. */
export const INDEX_BODY = {
  settings: { index: { knn: true, similarity: { terms: { type: 'BM25', k1: K1, b: 0.75 } } } },
  mappings: {
    dynamic: false,
    properties: {
      id: long,
      page: long,
      first: { type: 'boolean' },
      key: keyword,
      owner: keyword,
      url: keyword,
      host: keyword,
      path: keyword,
      country: keyword,
      ext: keyword,
      language: keyword,
      published_at: long,
      indexed_at: long,
      hash: keyword,
      bytes: long,
      model: keyword,
      [termsField('title')]: terms,
      [termsField('heading')]: terms,
      [termsField('body')]: terms,
      [termsField('also')]: terms,
      [termsField('address')]: terms,
      terms: { type: 'text', analyzer: 'whitespace', similarity: 'terms', index_options: 'freqs' },
    },
  },
};

/** The document with the number of the next passage. It is no passage. */
export const COUNTER_ID = 'next-passage';

/** The same for each version of a page, so that a new version replaces the documents of the last one. */
export const documentId = (key: string, ordinal: number): string =>
  `${createHash('sha256').update(key).digest('hex')}-${ordinal}`;

export interface PassageDocument {
  readonly id: string;
  readonly document: Readonly<Record<string, unknown>>;
}

/** `firstId` is the number of the first passage, which identifies the page too. */
export function documentsOf(page: PreparedPage, firstId: number): PassageDocument[] {
  const common = {
    page: firstId,
    key: page.key,
    owner: page.owner,
    url: page.url,
    host: page.host,
    path: new URL(page.url).pathname.toLowerCase(),
    country: countryOf(page.host),
    ext: page.ext,
    title: page.title,
    description: page.description,
    site_name: page.siteName,
    language: page.language,
    published_at: page.publishedAt,
    indexed_at: page.indexedAt,
    hash: page.hash,
    bytes: page.bytes,
  };
  return page.passages.map(({ heading, text, start, end, terms: own }, ordinal) => ({
    id: documentId(page.key, ordinal),
    document: {
      ...common,
      id: firstId + ordinal,
      first: ordinal === 0,
      heading,
      text,
      start,
      end,
      ...Object.fromEntries(
        Object.entries(own).map(([field, value]) => [termsField(field as keyof typeof own), value]),
      ),
      terms: Object.entries(REPEATS)
        .flatMap(([field, times]) => Array<string>(times).fill(own[field as keyof typeof REPEATS]))
        .filter((part) => part !== '')
        .join(' '),
    },
  }));
}

/** Each model needs a field of its own, because the number of dimensions is part of the mapping. */
export const vectorField = (model: string, dimensions: number): string =>
  `near_${createHash('sha256').update(`${dimensions} ${model}`).digest('hex').slice(0, 16)}`;

export const vectorMapping = (dimensions: number) => ({
  type: 'knn_vector',
  dimension: dimensions,
  method: { name: 'hnsw', engine: 'lucene', space_type: 'cosinesimil' },
});
