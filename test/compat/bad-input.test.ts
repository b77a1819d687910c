/**
 * Bad input to every route of every dialect: an error of 4xx that names the field, never a 5xx. The requests are made from
 * the schemas of the routes, so that new routes and fields are covered.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CompatRoute } from '#compat/dialect.ts';
import { DIALECTS } from '#compat/dialects.ts';
import { jsonSchema } from '#http/openapi.ts';
import { startServer, type TestServer } from '../support/server.ts';

let server: TestServer;
let headers: Record<string, string>;
beforeAll(async () => {
  server = await startServer({ crawlDelayMs: 0, logLevel: 'error', auth: 'off' });
  headers = { authorization: 'Bearer any' };
});
afterAll(() => server.close());

/** A value of no type that a field of an API could have. */
const WRONG = [[[7]]];
/** Bodies that no route takes. */
const BODIES: readonly unknown[] = [null, 7, 'text', [], [[]], [null]];
const URL = 'https://page.invalid/';
/** Right values of fields that requests need, so that the wrong field is the only reason for a refusal. */
const RIGHT: Readonly<Record<string, unknown>> = {
  url: URL,
  urls: [URL],
  sources: [{ kind: 'http', url: URL }],
  document: { type: 'document_url', document_url: URL },
  query: 'bees',
  q: 'bees',
  content: 'Bees fly.',
  input: 'bees',
  inputs: 'bees',
  prompt: 'bees',
  texts: ['bees'],
  text_1: 'bees',
  text_2: ['cars'],
  documents: ['bees', 'cars'],
  input_type: 'search_document',
};
/** Where a dialect has another type for a field of that name, or another field in its place. */
const RIGHT_IN: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  cohere: { inputs: undefined },
  firecrawl: { sources: ['web'] },
  gemini: { content: { parts: [{ text: 'bees' }] } },
  openai: { input_file_id: 'file-1', endpoint: '/v1/embeddings', completion_window: '24h' },
  tei: { ids: [1] },
  vllm: { input: 'bees', tokens: [1] },
  voyage: { input_type: 'document', inputs: [{ content: [{ type: 'text', text: 'bees' }] }] },
};
/** Other names of fields, which do not count if the usual ones are there. */
const OTHER_NAMES = new Set(['data_1', 'data_2', 'queries', 'items', 'ids', 'name']);
/** Fields that this request cannot show, with the reason. */
const EXEMPT: Readonly<Record<string, string>> = {
  'firecrawl changeTrackingOptions': 'has no effect without its format, and LibreChat always sends it',
  'vllm documents': 'another name of text_2 at /score',
  'tei inputs': 'the built-in model has no sparse vectors, which is said first',
  'tei parameters': 'at /similarity, inputs is an object',
};
const MODEL: Readonly<Record<string, string>> = { mistral: 'mistral-ocr-latest' };
const RANKS = /rerank|score/;

interface Sent {
  readonly path: string;
  readonly method: string;
  readonly body: unknown;
  /** The field that is wrong. */
  readonly field?: string;
}

const namesOf = ({ fields }: CompatRoute): string[] =>
  fields ? Object.keys((jsonSchema(fields) as { properties?: object }).properties ?? {}) : [];

function requestsTo(dialect: string, route: CompatRoute): Sent[] {
  const model = MODEL[dialect] ?? (RANKS.test(route.url) ? 'lectern-static-rerank-v2' : 'lectern-static-v2');
  const path = `/for/${dialect}${route.url.replaceAll(/:organization\/|:\w+|\*/g, (part) => (part === ':model' ? model : part === '*' ? `${model}:embedContent` : part.endsWith('/') ? '' : 'no-such'))}`;
  const names = namesOf(route);
  const right = { ...RIGHT, ...RIGHT_IN[dialect] };
  const valid = Object.fromEntries(
    names.flatMap((name) =>
      name === 'model' ? [[name, model]] : Object.hasOwn(right, name) ? [[name, right[name]]] : [],
    ),
  );
  return [route.method].flat().flatMap((method): Sent[] => {
    if (method === 'GET' || method === 'HEAD') return [];
    if (route.bodyAs === 'bytes') return [{ path, method, body: '\0\u0001 no file' }];
    return [
      ...names
        .filter((field) => !OTHER_NAMES.has(field))
        .map((field) => ({ path, method, field, body: { ...valid, [field]: WRONG } })),
      ...BODIES.map((body) => ({ path, method, body })),
    ];
  });
}

const described = DIALECTS.filter(({ name }) => name !== 'lectern');

describe.each(described.map((dialect) => [dialect.name, dialect] as const))('%s', (name, { routes }) => {
  it('answers bad bodies with 4xx, and names the field', { timeout: 240_000 }, async () => {
    const failures: string[] = [];
    for (const { path, method, body, field } of routes.flatMap((route) => requestsTo(name, route))) {
      const answer = await fetch(server.urls.compat + path, {
        method,
        headers: { ...headers, ...(typeof body !== 'string' && { 'content-type': 'application/json' }) },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      });
      const text = await answer.text();
      const told = `${method} ${path} ${JSON.stringify(body)}: ${answer.status} ${text.slice(0, 200)}`;
      const isNamed = field !== undefined && (text + answer.headers.get('x-lectern-ignored')).includes(field);
      if (EXEMPT[`${name} ${field}`] !== undefined) continue;
      if (answer.status >= 500) failures.push(told);
      // A form needs its file first.
      else if (field !== undefined && !isNamed && answer.status !== 404 && !/\bfiles? (?:is|must)/.test(text))
        failures.push(`does not name ${field}: ${told}`);
    }
    expect(failures).toEqual([]);
  });

  it('answers bad queries with less than 500', { timeout: 120_000 }, async () => {
    const failures: string[] = [];
    for (const route of routes) {
      if (![route.method].flat().includes('GET')) continue;
      const path = `/for/${name}${route.url.replaceAll(/:\w+|\*/g, 'no-such')}`;
      for (const field of namesOf(route)) {
        const answer = await fetch(`${server.urls.compat}${path}?${field}=%00%ff&${field}=x`, { headers });
        const text = await answer.text();
        if (answer.status >= 500) failures.push(`${path} ${field}: ${answer.status} ${text}`);
      }
    }
    expect(failures).toEqual([]);
  });
});
