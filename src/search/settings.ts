/** Parses the `searchProviders` setting: which providers to query, in which order, and how. */
import * as z from 'zod';
import { ConfigError } from '#config.ts';
import { isUrl } from '#is-url.ts';
import { DESCRIBED_FIELDS, type Provider, type ProviderSettings } from './provider.ts';
import { described, PLACEHOLDER, PLACEHOLDERS } from './providers/described.ts';
import { PROVIDERS } from './providers/providers.ts';

/** Names of the local index. They may be used in the list of providers. */
export const LOCAL_INDEX_NAMES = ['reader', 'local'] as const;
export const isLocalIndex = (name: string): boolean => LOCAL_INDEX_NAMES.some((own) => own === name);
/** Names of engines, which no row may use as its name. */
const RESERVED_NAMES = ['google', 'bing'];

export interface ProviderRow {
  /** The name by which callers select the provider. It is never a name of the local index. */
  readonly name: string;
  readonly provider: Provider;
  readonly settings: ProviderSettings;
  /** Maximum number of requests per day (UTC); `undefined` for no limit. */
  readonly budgetPerDay?: number | undefined;
  readonly timeoutMs: number;
}

const DEFAULT_TIMEOUT_MS = 8_000;
const PATH = z.string().regex(/^[\w$@-]+(?:\.[\w$@-]+)*$/, 'must be a path such as data.items');

const rowShape = z.strictObject({
  name: z
    .string()
    .regex(
      /^[a-z][a-z0-9_-]{0,40}$/,
      'must consist of lower-case letters, digits, dashes and underscores, and begin with a letter',
    )
    .refine((name) => !RESERVED_NAMES.includes(name), 'is the name of an engine; choose another name'),
  kind: z.enum([...Object.keys(PROVIDERS), 'json']).optional(),
  url: z.string().optional(),
  key: z.string().min(1).optional(),
  budgetPerDay: z.int().min(1).optional(),
  timeoutMs: z.int().min(100).max(60_000).default(DEFAULT_TIMEOUT_MS),
  method: z.enum(['GET', 'POST']).optional(),
  headers: z.record(z.string(), z.string()).default({}),
  body: z.unknown().optional(),
  results: z.union([z.literal(''), PATH]).default(''),
  fields: z.partialRecord(z.enum(DESCRIBED_FIELDS), PATH).optional(),
  maxCount: z.int().min(1).max(100).default(20),
  paging: z.enum(['exact', 'own', 'none']).default('exact'),
  kinds: z
    .array(z.enum(['web', 'images', 'news']))
    .min(1)
    .default(['web']),
});

/** Represents the local index in the list of rows. */
export const LOCAL_INDEX_ROW = 'local index';

/** Throws a ConfigError that names the row and the mistake. It never contains a key. */
export function parseProviderRows(rows: readonly unknown[]): (ProviderRow | typeof LOCAL_INDEX_ROW)[] {
  const read = rows.map((row, index) => readRow(typeof row === 'string' ? { name: row } : row, index + 1));
  const names = read.map((row) => (row === LOCAL_INDEX_ROW ? 'reader' : row.name));
  const duplicate = names.find((name, at) => names.indexOf(name) !== at);
  if (duplicate) throw new ConfigError(`searchProviders: ${duplicate} is listed twice; give each row a different name`);
  return read;
}

function readRow(row: unknown, number: number): ProviderRow | typeof LOCAL_INDEX_ROW {
  const fail = (message: string): never => {
    throw new ConfigError(`searchProviders, row ${number}: ${message}`);
  };
  const parsed = rowShape.safeParse(row);
  if (!parsed.success) return fail(z.prettifyError(parsed.error).replace(/\s*\n\s*/g, ' '));
  const { name, kind, url: given, key, budgetPerDay, timeoutMs, fields, ...rest } = parsed.data;
  if (isLocalIndex(name)) return LOCAL_INDEX_ROW;
  const chosen = kind ?? (fields ? 'json' : name);
  if (chosen !== 'json' && !Object.hasOwn(PROVIDERS, chosen)) {
    return fail(
      `${name} is not one of ${Object.keys(PROVIDERS).join(', ')}; for another provider set \`kind\` or \`fields\``,
    );
  }
  const description =
    chosen === 'json'
      ? { ...rest, method: rest.method ?? (rest.body === undefined ? 'GET' : 'POST'), fields: fields ?? {} }
      : undefined;
  if (description && !description.fields.url) return fail('fields must have the path of `url`');
  const provider = description ? described(description) : PROVIDERS[chosen]!;
  const url = given ?? provider.url;
  if (url === undefined) return fail(`${name} needs a url`);
  if (!isUrl(url) || !/^https?:\/\//i.test(url)) return fail('url must begin with http:// or https://');
  const unknown = description && /\{\w+\}/g.exec(url.replace(PLACEHOLDER, ''));
  if (unknown) return fail(`url has the unknown placeholder ${unknown[0]}; use one of ${PLACEHOLDERS.join(', ')}`);
  if (provider.needsKey && key === undefined) return fail(`${name} needs a key`);
  return { name, provider, settings: { url, key, described: description }, budgetPerDay, timeoutMs };
}
