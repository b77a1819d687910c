/**
 * Requests to an OpenSearch cluster (https://docs.opensearch.org/latest/api-reference/). Only documented REST endpoints
 * are used: create index, put mapping, bulk, update, search and delete by query.
 */
import type { TrustedFetch, TrustedResponse } from '#net/trusted.ts';

export interface OpenSearchPlace {
  /** Base URL with the credentials of the cluster, ending in a slash. */
  readonly base: string;
  /** Name of the index. */
  readonly index: string;
}

export interface OpenSearchClient {
  readonly index: string;
  /** Sends a request to `path`, relative to the cluster. Throws OpenSearchError, or a failure of the connection. */
  send<Answer>(method: string, path: string, body?: unknown, timeoutMs?: number): Promise<Answer>;
  search(body: Readonly<Record<string, unknown>>): Promise<SearchAnswer>;
  /** Writes documents, and makes them visible to searches. Returns the result of each operation. */
  bulk(operations: readonly BulkOperation[]): Promise<readonly BulkResult[]>;
  /** Returns the number of removed documents. */
  deleteByQuery(query: unknown): Promise<number>;
}

/** A `document` is stored as a whole, a `part` is merged into the document that is there. */
export type BulkOperation = { readonly id: string } & (
  | { readonly document: Readonly<Record<string, unknown>> }
  | {
      readonly part: Readonly<Record<string, unknown>>;
      /** The version to change: a document changed since then stays as it is. */
      readonly seen?: { readonly seqNo: number; readonly primaryTerm: number } | undefined;
    }
);

export interface BulkResult {
  readonly status: number;
  readonly error?: { readonly type?: string; readonly reason?: string };
}

export interface SearchHit {
  readonly _id: string;
  readonly _score: number | null;
  readonly _seq_no?: number;
  readonly _primary_term?: number;
  readonly _source?: Readonly<Record<string, unknown>>;
  readonly fields?: Readonly<Record<string, readonly unknown[]>>;
  readonly sort?: readonly unknown[];
}

export interface SearchAnswer {
  readonly hits: { readonly total?: { readonly value: number }; readonly hits: readonly SearchHit[] };
  readonly aggregations?: Readonly<Record<string, Aggregation>>;
}

/** The parts of the answers of the aggregations that are used. */
export interface Aggregation {
  readonly value?: number | null;
  readonly doc_count?: number;
  readonly buckets?:
    | readonly { readonly key: string | number; readonly doc_count: number }[]
    | Readonly<Record<string, { readonly doc_count: number }>>;
  readonly [name: string]: unknown;
}

/** The number in a field of a document. */
export const numberOf = ({ fields }: SearchHit, name: string): number => Number(fields![name]![0]);

/** OpenSearch refused a request. */
export class OpenSearchError extends Error {
  override readonly name = 'OpenSearchError';
  readonly status: number;
  /** The type of error that OpenSearch names: `index_not_found_exception`. */
  readonly type: string | undefined;
  constructor(status: number, type: string | undefined, message: string) {
    super(message);
    this.status = status;
    this.type = type;
  }
}

const SEARCH_MS = 3_000;
const WRITE_MS = 15_000;
const DELETE_MS = 60_000;

const URL_PATTERN = /^opensearch\+(https?:\/\/.+)$/;
const INDEX_NAME = /^[a-z0-9][a-z0-9._-]{0,199}$/;
const DEFAULT_INDEX = 'lectern';

/** Reads `opensearch+https://user:password@host:9200/index`. Throws if it is invalid; the message has no password. */
export function parseOpenSearchUrl(text: string): OpenSearchPlace {
  const match = URL_PATTERN.exec(text);
  if (!match || !URL.canParse(match[1]!))
    throw new Error('must be opensearch+https://host:9200/index, or opensearch+http://…');
  const url = new URL(match[1]!);
  const index = decodeURIComponent(url.pathname.replace(/^\/+|\/+$/g, '')) || DEFAULT_INDEX;
  if (!INDEX_NAME.test(index))
    throw new Error(
      `the name of the index, ${index}, must have lower-case letters, digits, dots, dashes and underscores`,
    );
  url.pathname = '/';
  url.search = '';
  url.hash = '';
  return { base: url.href, index };
}

export function createOpenSearchClient({ base, index }: OpenSearchPlace, fetch: TrustedFetch): OpenSearchClient {
  async function send<Answer>(
    method: string,
    path: string,
    body?: unknown,
    timeoutMs: number = SEARCH_MS,
  ): Promise<Answer> {
    const lines = typeof body === 'string';
    const answer = await fetch(new URL(path, base), {
      method,
      timeoutMs,
      ...(body !== undefined && {
        headers: { 'content-type': lines ? 'application/x-ndjson' : 'application/json' },
        body: lines ? body : JSON.stringify(body),
      }),
    });
    if (answer.status >= 300) throw await refusalOf(answer);
    return (await answer.json()) as Answer;
  }

  return {
    index,
    send,
    search: (body) => send('POST', `${index}/_search`, body),
    async bulk(operations) {
      if (operations.length === 0) return [];
      const lines = operations.flatMap((operation) => linesOf(operation));
      const body = lines.map((line) => `${JSON.stringify(line)}\n`).join('');
      const answer = await send<{ items: Readonly<Record<string, BulkResult>>[] }>(
        'POST',
        `${index}/_bulk?refresh=true`,
        body,
        WRITE_MS,
      );
      return answer.items.map((item) => Object.values(item)[0]!);
    },
    async deleteByQuery(query) {
      const path = `${index}/_delete_by_query?refresh=true&conflicts=proceed`;
      const { deleted } = await send<{ deleted: number }>('POST', path, { query }, DELETE_MS);
      return deleted;
    },
  };
}

function linesOf(operation: BulkOperation): unknown[] {
  if ('document' in operation) return [{ index: { _id: operation.id } }, operation.document];
  const { id, part, seen } = operation;
  const version = seen && { if_seq_no: seen.seqNo, if_primary_term: seen.primaryTerm };
  return [{ update: { _id: id, ...version } }, { doc: part }];
}

async function refusalOf(answer: TrustedResponse): Promise<OpenSearchError> {
  const text = await answer.text();
  let type: string | undefined;
  let reason: string | undefined;
  try {
    const { error } = JSON.parse(text) as { error?: { type?: string; reason?: string } | string };
    if (typeof error === 'string') reason = error;
    else ({ type, reason } = error ?? {});
  } catch {
    // A proxy in front of the cluster answered.
  }
  return new OpenSearchError(
    answer.status,
    type,
    `OpenSearch answered ${answer.status}${reason ? `: ${reason.slice(0, 300)}` : ''}`,
  );
}
