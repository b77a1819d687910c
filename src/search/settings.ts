/** Parses the `searchProviders` and `searchSources` settings: which providers and public sources to query, and how. */
import * as z from 'zod';
import { ConfigError, environmentName } from '#config.ts';
import { isUrl } from '#is-url.ts';
import { DESCRIBED_FIELDS, type Provider, type ProviderSettings } from './provider.ts';
import { described, PLACEHOLDER, PLACEHOLDERS } from './providers/described.ts';
import { PROVIDERS, PUBLIC_SOURCES } from './providers/providers.ts';

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
  const read = rows.map((row, index) => {
    const place = `searchProviders, row ${index + 1}`;
    return isLocalIndex(nameIn(row) ?? '') ? LOCAL_INDEX_ROW : readRow(row, place);
  });
  refuseDuplicates(
    'searchProviders',
    read.map((row) => (row === LOCAL_INDEX_ROW ? 'reader' : row.name)),
  );
  return read;
}

/** The name in a row that is not checked yet; `undefined` if it has none. */
function nameIn(row: unknown): string | undefined {
  const name: unknown = typeof row === 'object' && row !== null ? Reflect.get(row, 'name') : row;
  return typeof name === 'string' ? name : undefined;
}

/** Words that stand for sets of public sources. */
const ALL = 'all';
const NONE = 'none';

/**
 * Returns the public sources that are on. `all` stands for those that no other row names, here or in `searchProviders`.
 * Throws a ConfigError like `parseProviderRows`.
 */
export function parseSourceRows(rows: readonly unknown[], providers: readonly string[] = []): ProviderRow[] {
  if (rows.includes(NONE)) {
    if (rows.length === 1) return [];
    throw new ConfigError('searchSources: `none` must be the only entry');
  }
  const place = (index: number) => `searchSources, row ${index + 1}`;
  const read = rows.flatMap((row, index) => {
    if (row === ALL) return [];
    const found = readRow(row, place(index));
    if (found.provider.source) return [found];
    throw new ConfigError(
      `${place(index)}: ${found.name} is not a public source; use ${ALL}, or some of ${Object.keys(PUBLIC_SOURCES).join(', ')}`,
    );
  });
  const names = [...read.map(({ name }) => name), ...providers];
  refuseDuplicates('searchSources', names);
  if (!rows.includes(ALL)) return read;
  const others = Object.keys(PUBLIC_SOURCES).filter((name) => !names.includes(name));
  return [...read, ...others.map((name) => readRow(name, 'searchSources'))];
}

function refuseDuplicates(setting: string, names: readonly string[]): void {
  const duplicate = names.find((name, at) => names.indexOf(name) !== at);
  if (duplicate) throw new ConfigError(`${setting}: ${duplicate} is listed twice; give each row a different name`);
}

/** Whether a row uses the public service of its provider, and not a server of the operator's choice. */
export const isPublicService = ({ provider, settings }: ProviderRow): boolean =>
  provider.url !== undefined && hostOf(settings.url) === hostOf(provider.url);

/** The host of a URL, which may contain placeholders. */
const hostOf = (url: string) => /^https?:\/\/([^/?#]*)/i.exec(url)?.[1]?.toLowerCase();

/** Whether the terms of a service require a contact that the operator has not set. */
export const lacksContact = (row: ProviderRow, contact: string | undefined): boolean =>
  contact === undefined && row.provider.source?.contact === 'required' && isPublicService(row);

export const CONTACT_SETTING = environmentName('contact');

/** Throws ConfigError if a row that the operator wrote lacks a contact. */
export function requireContact(rows: readonly ProviderRow[], contact: string | undefined): void {
  const row = rows.find((one) => lacksContact(one, contact));
  if (!row) return;
  throw new ConfigError(
    `${row.name} needs a contact: its terms require one in each request. Set ${CONTACT_SETTING} to your mail address or the URL of a page about your server`,
  );
}

function readRow(given: unknown, place: string): ProviderRow {
  const row = typeof given === 'string' ? { name: given } : given;
  const fail = (message: string): never => {
    throw new ConfigError(`${place}: ${message}`);
  };
  const parsed = rowShape.safeParse(row);
  if (!parsed.success) return fail(z.prettifyError(parsed.error).replace(/\s*\n\s*/g, ' '));
  const { name, kind, url: ownUrl, key, budgetPerDay, timeoutMs, fields, ...rest } = parsed.data;
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
  const url = ownUrl ?? provider.url;
  if (url === undefined) return fail(`${name} needs a url`);
  if (!isUrl(url) || !/^https?:\/\//i.test(url)) return fail('url must begin with http:// or https://');
  const unknown = description && /\{\w+\}/g.exec(url.replace(PLACEHOLDER, ''));
  if (unknown) return fail(`url has the unknown placeholder ${unknown[0]}; use one of ${PLACEHOLDERS.join(', ')}`);
  if (provider.needsKey && key === undefined) return fail(`${name} needs a key`);
  return { name, provider, settings: { url, key, described: description }, budgetPerDay, timeoutMs };
}
