/** Example requests of the dialects for the OpenAPI documents, made of the fields of each request. */
import type * as z from 'zod';
import { ownValue } from '#own-value.ts';

const EMBED_MODEL = 'lectern-static-v2';
const RERANK_MODEL = 'lectern-static-rerank-v2';
const URL = 'https://example.com/';
const TEXTS = ['Tap water is safe.', 'The river is long.'];
const QUERY = 'May I drink it?';

/** Values by the name of the field. The products use the same names for the same things. */
const VALUES: Readonly<Record<string, unknown>> = {
  url: URL,
  urls: [URL],
  sources: [{ kind: 'http', url: URL }],
  q: QUERY,
  query: QUERY,
  documents: TEXTS,
  texts: TEXTS,
  text: TEXTS[0],
  text_1: QUERY,
  text_2: TEXTS[0],
  prompt: TEXTS[0],
  input: TEXTS,
  inputs: TEXTS,
  content: TEXTS[0],
  document: { type: 'document_url', document_url: `${URL}report.pdf` },
  input_file_id: 'file-3f7c1d',
  tokens: [7592, 2088],
  ids: [[7592, 2088]],
};

/** Values of fields that have another shape in one dialect, and in some of its routes. */
const OTHER_SHAPES: readonly { dialect: string; url: RegExp; values: Readonly<Record<string, unknown>> }[] = [
  { dialect: 'firecrawl', url: /search$/, values: { sources: ['web'] } },
  { dialect: 'gemini', url: /./, values: { content: { parts: [{ text: TEXTS[0] }] } } },
  { dialect: 'tei', url: /similarity$/, values: { inputs: { source_sentence: QUERY, sentences: TEXTS } } },
  {
    dialect: 'voyage',
    url: /multimodal/,
    values: { inputs: [{ content: [{ type: 'text', text: TEXTS[0] }] }] },
  },
];

/** Optional fields without which a request makes no sense. */
const MAIN_FIELDS = ['url', 'urls', 'sources', 'model', 'q', 'query', 'texts', 'text_1', 'text_2'];

export interface FieldSchema {
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly format?: string;
}

export interface ExampleRoute {
  readonly dialect: string;
  readonly url: string;
}

/** The example of one field; `undefined` if there is none. */
export function fieldExample(name: string, { dialect, url }: ExampleRoute, schema: FieldSchema = {}): unknown {
  if (schema.const !== undefined) return schema.const;
  if (schema.enum?.length) return schema.enum[0];
  if (schema.format === 'binary') return undefined;
  if (name === 'model') return /rank|score/.test(url) ? RERANK_MODEL : EMBED_MODEL;
  const other = OTHER_SHAPES.find((one) => one.dialect === dialect && one.url.test(url));
  return (other && ownValue(other.values, name)) ?? ownValue(VALUES, name);
}

interface BodySchema {
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, FieldSchema>>;
}

/** The body of an example request with the fields that it needs; `undefined` if `fields` would refuse it. */
export function bodyExample(
  route: ExampleRoute,
  fields: z.ZodType,
  { required = [], properties = {} }: BodySchema,
): Readonly<Record<string, unknown>> | undefined {
  const names = Object.keys(properties).filter((name) => required.includes(name) || MAIN_FIELDS.includes(name));
  const chosen = names.map((name) => [name, fieldExample(name, route, properties[name])] as const);
  const body = Object.fromEntries(chosen.filter(([, value]) => value !== undefined));
  return Object.keys(body).length > 0 && fields.safeParse(body).success ? body : undefined;
}
