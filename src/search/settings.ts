/** The rows of the setting `searchProviders`: which services are asked, in which order, and how. */
import * as z from 'zod';
import { ConfigError } from '#config.ts';
import { DESCRIBED_FIELDS, type Provider, type ProviderSettings } from './provider.ts';
import { described, PLACEHOLDER, PLACEHOLDERS } from './providers/described.ts';
import { PROVIDERS } from './providers/providers.ts';

/** The server's own index, which may stand among the services. */
export const LOCAL_INDEX_NAMES = ['reader', 'local'] as const;
export const isLocalIndex = (name: string): boolean => LOCAL_INDEX_NAMES.some((own) => own === name);
/** Names that callers may give for engines, so that no row can have them. */
const RESERVED_NAMES = ['google', 'bing'];

export interface ProviderRow {
  /** What callers may name; never that of the own index. */
  readonly name: string;
  readonly provider: Provider;
  readonly settings: ProviderSettings;
  /** Requests a day (UTC); undefined for any number. */
  readonly budgetPerDay?: number | undefined;
  readonly timeoutMs: number;
}

const DEFAULT_TIMEOUT_MS = 8_000;
const PATH = z.string().regex(/^[\w$@-]+(?:\.[\w$@-]+)*$/, 'must be a path such as data.items');

const rowShape = z.strictObject({
  name: z
    .string()
    .regex(/^[a-z][a-z0-9_-]{0,40}$/, 'must be lower-case letters, digits and dashes')
    .refine((name) => !RESERVED_NAMES.includes(name), 'is the name of an engine'),
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

/** A row that stands for the server's own index. */
export const LOCAL_INDEX_ROW = 'own index';

/** Throws ConfigError with what is wrong in which row; no key is in it. */
export function parseProviderRows(rows: readonly unknown[]): (ProviderRow | typeof LOCAL_INDEX_ROW)[] {
  const read = rows.map((row, index) => readRow(typeof row === 'string' ? { name: row } : row, index + 1));
  const names = read.map((row) => (row === LOCAL_INDEX_ROW ? 'reader' : row.name));
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (twice) throw new ConfigError(`searchProviders: ${twice} is there twice; give each row a name of its own`);
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
      `${name} is none of ${Object.keys(PROVIDERS).join(', ')}; another service needs \`kind\` or \`fields\``,
    );
  }
  const place =
    chosen === 'json'
      ? { ...rest, method: rest.method ?? (rest.body === undefined ? 'GET' : 'POST'), fields: fields ?? {} }
      : undefined;
  if (place && !place.fields.url) return fail('fields must say where the `url` of a result is');
  const provider = place ? described(place) : PROVIDERS[chosen]!;
  const url = given ?? provider.url;
  if (url === undefined) return fail(`${name} needs a url`);
  if (!URL.canParse(url) || !/^https?:\/\//i.test(url)) return fail('url must be an http address');
  const strange = place && /\{\w+\}/g.exec(url.replace(PLACEHOLDER, ''));
  if (strange) return fail(`url has ${strange[0]}, which is none of ${PLACEHOLDERS.join(', ')}`);
  if (provider.needsKey && key === undefined) return fail(`${name} needs a key`);
  return { name, provider, settings: { url, key, described: place }, budgetPerDay, timeoutMs };
}
