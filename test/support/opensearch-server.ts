/**
 * The part of the REST API of OpenSearch that the index uses, with documents in memory
 * (https://docs.opensearch.org/latest/api-reference/). No registry carries OpenSearch itself. It refuses queries,
 * aggregations and parameters that it does not know, and fields without a mapping, so that a request must be one of
 * those that the documentation describes.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

type Json = Record<string, unknown>;

interface Stored {
  readonly id: string;
  readonly source: Json;
  readonly seqNo: number;
}

interface Index {
  readonly documents: Map<string, Stored>;
  readonly properties: Record<string, Json>;
}

export interface OpenSearchServer {
  /** As LECTERN_INDEX_URL takes it, for an index with this name. */
  url(index: string): string;
  /** The requests that were answered, as `METHOD /path`. */
  readonly requests: readonly string[];
  /** What the server does with requests: answers them, answers with this status, or leaves them without an answer. */
  behave(how: 'normal' | 'hung' | number): void;
  close(): Promise<void>;
}

class Refusal extends Error {
  readonly status: number;
  readonly type: string;
  constructor(status: number, type: string, reason: string) {
    super(reason);
    this.status = status;
    this.type = type;
  }
}
const bad = (reason: string) => new Refusal(400, 'parsing_exception', reason);

const USER = 'lectern';
const PASSWORD = 'tea & milk';
const MAX_RESULT_WINDOW = 10_000;

export async function startOpenSearch(): Promise<OpenSearchServer> {
  const indices = new Map<string, Index>();
  const requests: string[] = [];
  let how: 'normal' | 'hung' | number = 'normal';
  let seqNo = 0;

  const indexOf = (name: string): Index => {
    const found = indices.get(name);
    if (!found) throw new Refusal(404, 'index_not_found_exception', `no such index [${name}]`);
    return found;
  };
  const put = ({ documents }: Index, id: string, source: Json): void => {
    seqNo += 1;
    documents.set(id, { id, source, seqNo });
  };

  function bulk(index: Index, text: string): Json {
    const lines = text
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as Json);
    const items: Json[] = [];
    for (let at = 0; at < lines.length; at += 2) {
      const [[action, meta]] = Object.entries(lines[at]!) as [[string, Json]];
      const id = String(meta._id);
      const before = index.documents.get(id);
      if (action === 'index') {
        put(index, id, lines[at + 1]!);
        items.push({ index: { _id: id, status: before ? 200 : 201 } });
      } else if (action === 'update') {
        const refused = !before
          ? { status: 404, error: { type: 'document_missing_exception' } }
          : meta.if_seq_no !== undefined && meta.if_seq_no !== before.seqNo
            ? { status: 409, error: { type: 'version_conflict_engine_exception' } }
            : undefined;
        if (!refused) put(index, id, { ...before!.source, ...(lines[at + 1]!.doc as Json) });
        items.push({ update: { _id: id, ...(refused ?? { status: 200 }) } });
      } else throw bad(`unknown action ${action}`);
    }
    return { errors: items.some((item) => 'error' in (Object.values(item)[0] as Json)), items };
  }

  function update(index: Index, id: string, body: Json): Json {
    const { script, upsert } = body as { script: { source: string; params: Json }; upsert: Json };
    const change = /^ctx\._source\.(\w+) \+= params\.(\w+)$/.exec(script.source);
    if (!change) throw bad('this server knows one script only');
    const before = index.documents.get(id)?.source;
    const [, field, parameter] = change as unknown as [string, string, string];
    const next = before ? { ...before, [field]: Number(before[field]) + Number(script.params[parameter]) } : upsert;
    put(index, id, next);
    return { result: before ? 'updated' : 'created', get: { _source: next } };
  }

  function handle(method: string, path: string, text: string): Json {
    const [name = '', endpoint, id] = path.slice(1).split('/');
    if (name === '') return { version: { distribution: 'opensearch', number: '2.19.0' } };
    const body = endpoint === '_bulk' || text === '' ? {} : (JSON.parse(text) as Json);
    if (method === 'PUT' && !endpoint) {
      if (indices.has(name)) throw new Refusal(400, 'resource_already_exists_exception', `index [${name}] exists`);
      indices.set(name, {
        documents: new Map(),
        properties: { ...((body.mappings as Json).properties as Json) } as never,
      });
      return { acknowledged: true };
    }
    const index = indexOf(name);
    if (method === 'PUT' && endpoint === '_mapping') {
      Object.assign(index.properties, body.properties);
      return { acknowledged: true };
    }
    if (method !== 'POST') throw new Refusal(405, 'method_not_allowed', `${method} ${path}`);
    if (endpoint === '_bulk') return bulk(index, text);
    if (endpoint === '_update') return update(index, id!, body);
    if (endpoint === '_search') return search(index, body);
    if (endpoint === '_delete_by_query') {
      const gone = matching(index, body.query as Json);
      for (const { document } of gone) index.documents.delete(document.id);
      return { deleted: gone.length, version_conflicts: 0, failures: [] };
    }
    throw new Refusal(400, 'illegal_argument_exception', `unknown endpoint ${endpoint}`);
  }

  const authorization = `Basic ${Buffer.from(`${USER}:${PASSWORD}`).toString('base64')}`;
  const server = createServer(async (request, response) => {
    const answer = (status: number, body: unknown) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    const text = await textOf(request);
    if (how === 'hung') return;
    if (typeof how === 'number') return void answer(how, { error: { type: 'stopped', reason: 'asked to fail' } });
    if (request.headers.authorization !== authorization) return void answer(401, { error: 'Unauthorized' });
    const { pathname } = new URL(request.url!, 'http://server');
    requests.push(`${request.method} ${pathname}`);
    try {
      answer(200, handle(request.method!, decodeURIComponent(pathname), text));
    } catch (error) {
      const { status, type } = error instanceof Refusal ? error : { status: 500, type: 'exception' };
      answer(status, { error: { type, reason: (error as Error).message }, status });
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: (index) => `opensearch+http://${USER}:${encodeURIComponent(PASSWORD)}@127.0.0.1:${port}/${index}`,
    requests,
    behave(next) {
      how = next;
    },
    async close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

const SEARCH_KEYS = [
  ...['query', 'size', 'sort', 'search_after', 'aggs', '_source', 'docvalue_fields', 'track_total_hits'],
  ...['track_scores', 'seq_no_primary_term'],
];

function search(index: Index, body: Json): Json {
  refuseUnknown(body, SEARCH_KEYS);
  const size = Number(body.size ?? 10);
  if (size > MAX_RESULT_WINDOW) throw bad('Result window is too large');
  const found = matching(index, body.query as Json);
  const keys = ((body.sort ?? [{ _score: 'desc' }]) as Json[]).map((key) => Object.entries(key)[0] as [string, string]);
  for (const [field] of keys) if (field !== '_score') mapped(index, field);
  const valuesOf = ({ document, score }: Match) =>
    keys.map(([field]) => (field === '_score' ? score : Number(document.source[field] ?? 0)));
  const compare = (a: readonly number[], b: readonly number[]): number => {
    for (const [at, [, order]] of keys.entries())
      if (a[at] !== b[at]) return (a[at]! - b[at]!) * (order === 'desc' ? -1 : 1);
    return 0;
  };
  const after = body.search_after as number[] | undefined;
  const sorted = found
    .map((match) => ({ match, values: valuesOf(match) }))
    .filter(({ values }) => !after || compare(values, after) > 0)
    .sort((a, b) => compare(a.values, b.values));
  const hits = sorted.slice(0, size).map(({ match: { document, score }, values }) => ({
    _id: document.id,
    _score: body.sort && !body.track_scores ? null : score,
    ...(body.seq_no_primary_term ? { _seq_no: document.seqNo, _primary_term: 1 } : {}),
    ...(body._source === false ? {} : { _source: sourceOf(document.source, body._source) }),
    ...(body.docvalue_fields ? { fields: docValues(index, document.source, body.docvalue_fields as string[]) } : {}),
    ...(body.sort ? { sort: values } : {}),
  }));
  const aggregations = body.aggs && aggregate(index, found, body.aggs as Json);
  return { hits: { total: { value: found.length, relation: 'eq' }, hits }, ...(aggregations ? { aggregations } : {}) };
}

function sourceOf(source: Json, wanted: unknown): Json {
  if (wanted === undefined || wanted === true) return source;
  const isIn = (list: readonly string[], field: string) =>
    list.some((name) => new RegExp(`^${name.replaceAll('*', '.*')}$`).test(field));
  const keeps = Array.isArray(wanted)
    ? (field: string) => isIn(wanted as string[], field)
    : (field: string) => !isIn((wanted as { excludes: string[] }).excludes, field);
  return Object.fromEntries(Object.entries(source).filter(([field]) => keeps(field)));
}

const docValues = (index: Index, source: Json, fields: readonly string[]): Json =>
  Object.fromEntries(
    fields.map((field) => {
      mapped(index, field);
      return [field, [source[field]]];
    }),
  );

interface Match {
  readonly document: Stored;
  readonly score: number;
}

/** Returns the score of a document, or `undefined` if it does not match. */
type Scorer = (document: Stored) => number | undefined;

function matching(index: Index, query: Json): Match[] {
  const documents = [...index.documents.values()];
  if (query.knn) return nearest(index, query.knn as Json, documents);
  const score = compile(index, query);
  return documents.flatMap((document) => {
    const found = score(document);
    return found === undefined ? [] : [{ document, score: found }];
  });
}

function nearest(index: Index, knn: Json, documents: readonly Stored[]): Match[] {
  const [[field, options]] = Object.entries(knn) as [[string, Json]];
  refuseUnknown(options, ['vector', 'k', 'filter']);
  const { dimension } = mapped(index, field) as { dimension: number };
  const vector = options.vector as number[];
  if (vector.length !== dimension) throw bad(`Query vector has invalid dimension: ${vector.length}`);
  const filter = compile(index, options.filter as Json);
  return documents
    .filter((document) => document.source[field] !== undefined && filter(document) !== undefined)
    .map((document) => ({ document, score: (1 + cosine(vector, document.source[field] as number[])) / 2 }))
    .sort((a, b) => b.score - a.score)
    .slice(0, Number(options.k));
}

function cosine(a: readonly number[], b: readonly number[]): number {
  const dot = (x: readonly number[], y: readonly number[]) => x.reduce((sum, value, at) => sum + value * y[at]!, 0);
  const length = Math.sqrt(dot(a, a) * dot(b, b));
  if (length === 0) throw bad('zero vector is not supported when space type is [cosinesimil]');
  return dot(a, b) / length;
}

function compile(index: Index, query: Json): Scorer {
  const entries = Object.entries(query);
  if (entries.length !== 1) throw bad('a query must have one name');
  const [[name, given]] = entries as [[string, Json]];
  const make = QUERIES[name];
  if (!make) throw bad(`unknown query [${name}]`);
  return make(index, given);
}

const when =
  (test: (source: Json) => boolean): Scorer =>
  ({ source }) =>
    test(source) ? 1 : undefined;

const QUERIES: Readonly<Record<string, (index: Index, given: Json) => Scorer>> = {
  bool(index, given) {
    refuseUnknown(given, ['filter', 'should', 'must_not', 'minimum_should_match']);
    const list = (key: string) => ((given[key] ?? []) as Json[]).map((query) => compile(index, query));
    const [filter, should, mustNot] = [list('filter'), list('should'), list('must_not')];
    const least = Number(given.minimum_should_match ?? 0);
    return (document) => {
      if (filter.some((one) => one(document) === undefined)) return undefined;
      if (mustNot.some((one) => one(document) !== undefined)) return undefined;
      const scores = should.flatMap((one) => one(document) ?? []);
      return scores.length < least ? undefined : scores.reduce((sum, score) => sum + score, 0);
    };
  },
  constant_score(index, given) {
    const filter = compile(index, given.filter as Json);
    return (document) => (filter(document) === undefined ? undefined : Number(given.boost ?? 1));
  },
  exists(index, given) {
    mapped(index, String(given.field));
    return when((source) => source[String(given.field)] !== undefined && source[String(given.field)] !== null);
  },
  term(index, given) {
    const [[field, value]] = Object.entries(given) as [[string, unknown]];
    const wanted = typeof value === 'object' ? (value as Json).value : value;
    return mapped(index, field).similarity ? bm25(index, field, String(wanted)) : inList(index, field, [wanted]);
  },
  terms(index, given) {
    const [[field, values]] = Object.entries(given) as [[string, unknown[]]];
    if (values.length > 65_536) throw bad('The number of terms exceeds index.max_terms_count');
    return inList(index, field, values);
  },
  prefix(index, given) {
    const [[field, { value }]] = Object.entries(given) as [[string, { value: string }]];
    const tokens = tokensOf(index, field);
    return when((source) => tokens(source).some((token) => String(token).startsWith(value)));
  },
  wildcard(index, given) {
    const [[field, { value, case_insensitive }]] = Object.entries(given) as [
      [string, { value: string; case_insensitive: boolean }],
    ];
    mapped(index, field);
    const pattern = value.replace(/\\(.)|([*?])|([\s\S])/g, (_, escaped, special, plain) =>
      special ? (special === '*' ? '[^]*' : '[^]') : literal(escaped ?? plain),
    );
    const expression = new RegExp(`^${pattern}$`, case_insensitive ? 'i' : '');
    return when((source) => expression.test(String(source[field] ?? '')));
  },
  range(index, given) {
    const [[field, bounds]] = Object.entries(given) as [[string, Record<string, number>]];
    mapped(index, field);
    refuseUnknown(bounds, ['gt', 'gte', 'lt']);
    const { gt = -Infinity, gte = -Infinity, lt = Infinity } = bounds;
    return when((source) => {
      const value = source[field];
      return typeof value === 'number' && value > gt && value >= gte && value < lt;
    });
  },
  match_phrase(index, given) {
    const [[field, phrase]] = Object.entries(given) as [[string, string]];
    if (mapped(index, field).index_options === 'freqs') throw bad(`field ${field} was indexed without position data`);
    return when((source) => ` ${source[field] ?? ''} `.includes(` ${phrase} `));
  },
};

const literal = (text: string): string => text.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&');

function inList(index: Index, field: string, values: readonly unknown[]): Scorer {
  const wanted = new Set(values);
  const tokens = tokensOf(index, field);
  return when((source) => tokens(source).some((token) => wanted.has(token)));
}

/** The terms of a document in a field: the words of a text, and any other value as it is. */
function tokensOf(index: Index, field: string): (source: Json) => unknown[] {
  const { type } = mapped(index, field);
  return (source) => {
    const value = source[field];
    if (value === undefined || value === null) return [];
    return type === 'text' ? String(value).split(' ').filter(Boolean) : [value];
  };
}

/** BM25 as in Lucene, with the k1 that Lectern's mapping sets. */
function bm25(index: Index, field: string, term: string): Scorer {
  const tokens = tokensOf(index, field);
  const texts = [...index.documents.values()].map(({ source }) => tokens(source)).filter((text) => text.length > 0);
  const mean = texts.reduce((sum, text) => sum + text.length, 0) / Math.max(1, texts.length);
  const having = texts.filter((text) => text.includes(term)).length;
  const idf = Math.log(1 + (texts.length - having + 0.5) / (having + 0.5));
  return ({ source }) => {
    const text = tokens(source);
    const count = text.filter((token) => token === term).length;
    return count === 0 ? undefined : (idf * count) / (count + 2.4 * (0.25 + (0.75 * text.length) / mean));
  };
}

function aggregate(index: Index, matches: readonly Match[], aggs: Json): Json {
  return Object.fromEntries(
    Object.entries(aggs as Record<string, Json>).map(([name, { aggs: inner, ...own }]) => [
      name,
      aggregateOne(index, matches, own, inner as Json | undefined),
    ]),
  );
}

function aggregateOne(index: Index, matches: readonly Match[], own: Json, inner: Json | undefined): Json {
  const [[kind, options]] = Object.entries(own) as [[string, Json]];
  const within = (query: Json) => {
    const test = compile(index, query);
    return matches.filter(({ document }) => test(document) !== undefined);
  };
  if (kind === 'filter') {
    const some = within(options);
    return { doc_count: some.length, ...(inner ? aggregate(index, some, inner) : {}) };
  }
  if (kind === 'filters') {
    const filters = Object.entries(options.filters as Record<string, Json>);
    return { buckets: Object.fromEntries(filters.map(([key, query]) => [key, { doc_count: within(query).length }])) };
  }
  const field = String(options.field);
  mapped(index, field);
  const values = matches.flatMap(({ document }) => document.source[field] ?? []) as (string | number)[];
  if (kind === 'terms') {
    const counts = new Map<string | number, number>();
    for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
    const buckets = [...counts].map(([key, doc_count]) => ({ key, doc_count }));
    return { buckets: buckets.sort((a, b) => b.doc_count - a.doc_count).slice(0, Number(options.size ?? 10)) };
  }
  const numbers = values as number[];
  if (kind === 'sum') return { value: numbers.reduce((sum, value) => sum + value, 0) };
  if (kind === 'max') return { value: numbers.length > 0 ? Math.max(...numbers) : null };
  if (kind === 'min') return { value: numbers.length > 0 ? Math.min(...numbers) : null };
  throw bad(`unknown aggregation ${kind}`);
}

function mapped({ properties }: Index, field: string): Json {
  const mapping = properties[field];
  if (!mapping) throw bad(`No mapping found for [${field}]`);
  return mapping;
}

function refuseUnknown(given: Json, known: readonly string[]): void {
  for (const key of Object.keys(given)) if (!known.includes(key)) throw bad(`unknown key [${key}]`);
}
