/** The table of endpoints of the admin API. The routes and the OpenAPI document are generated from this table. */
import type * as z from 'zod';
import { type Accounts, toAccountJson, toKeyJson, type Usage } from '#accounts/index.ts';
import { problem } from '#errors.ts';
import type { Plans } from '#plans.ts';
import type { HostTimes } from '#telemetry/host-times.ts';
import {
  accountChange,
  accountList,
  accountShape,
  createdKeyShape,
  hostList,
  hostShape,
  keyChange,
  keyList,
  keyShape,
  newAccount,
  newKey,
  planShape,
  usageQuery,
  usageShape,
} from './schemas.ts';

export interface AdminModules {
  readonly accounts: Accounts;
  readonly usage: Pick<Usage, 'sums'>;
  readonly plans: Plans;
  readonly hostTimes: HostTimes;
}

/** The component schemas of the OpenAPI document. */
export const ADMIN_SHAPES = {
  Account: accountShape,
  Key: keyShape,
  MadeKey: createdKeyShape,
  UsageSum: usageShape,
  Plan: planShape,
  HostTime: hostShape,
};

/** The tags of the OpenAPI document. */
export const ADMIN_TAGS = {
  Accounts: 'Accounts: each has a plan and a balance.',
  Keys: 'API keys of accounts.',
  Usage: 'Usage totals.',
  Plans: 'Plans and their limits.',
  Hosts: 'Hosts that pages were fetched from.',
};
type AdminTag = keyof typeof ADMIN_TAGS;

interface AdminRequest<Query, Body> {
  readonly id: string;
  readonly query: Query;
  readonly body: Body;
}

interface Row<Query extends z.ZodType, Body extends z.ZodType> {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly name: string;
  readonly summary: string;
  readonly tag: AdminTag;
  readonly query?: Query;
  readonly body?: Body;
  readonly shape: keyof typeof ADMIN_SHAPES;
  /** The shape of `data`. A `page` also has `next`, the id after which the list continues. */
  readonly kind: 'one' | 'list' | 'page';
  readonly run: (modules: AdminModules, request: AdminRequest<z.output<Query>, z.output<Body>>) => Promise<AdminAnswer>;
}

export interface AdminAnswer {
  readonly data: unknown;
  readonly next?: string | null;
}

export type AdminRoute = Row<z.ZodType, z.ZodType>;

// Each row is typed by its own schemas. The cast is safe, because a row only receives values that its schemas have
// validated.
const row = <Query extends z.ZodType, Body extends z.ZodType>(made: Row<Query, Body>) => made as unknown as AdminRoute;

const orNotFound = <T>(value: T | undefined, what: string, id: string): T => {
  if (value !== undefined) return value;
  throw problem('ResourceNotFoundError', { path: 'id', message: `There is no ${what} ${id}` });
};

/** Reads one row more than requested, to find out whether the list continues. */
async function readPage<T extends { readonly id: string }>(
  limit: number,
  list: (limit: number) => Promise<T[]>,
  show: (row: T) => unknown,
): Promise<AdminAnswer> {
  const rows = await list(limit + 1);
  const shown = rows.slice(0, limit);
  return { data: shown.map(show), next: rows.length > limit ? shown.at(-1)!.id : null };
}

export const ADMIN_TABLE: readonly AdminRoute[] = [
  row({
    method: 'GET',
    path: '/accounts',
    tag: 'Accounts',
    name: 'listAccounts',
    summary: 'List accounts in order of creation',
    query: accountList,
    shape: 'Account',
    kind: 'page',
    run: async ({ accounts }, { query: { limit, after } }) => {
      if (after !== undefined) orNotFound(await accounts.account(after), 'account', after);
      return readPage(limit, (count) => accounts.accounts({ limit: count, after }), toAccountJson);
    },
  }),
  row({
    method: 'POST',
    path: '/accounts',
    tag: 'Accounts',
    name: 'createAccount',
    summary: 'Create an account',
    body: newAccount,
    shape: 'Account',
    kind: 'one',
    run: async ({ accounts }, { body }) => ({ data: toAccountJson(await accounts.createAccount(body)) }),
  }),
  row({
    method: 'GET',
    path: '/accounts/{id}',
    tag: 'Accounts',
    name: 'getAccount',
    summary: 'Get an account',
    shape: 'Account',
    kind: 'one',
    run: async ({ accounts }, { id }) => ({
      data: toAccountJson(orNotFound(await accounts.account(id), 'account', id)),
    }),
  }),
  row({
    method: 'PATCH',
    path: '/accounts/{id}',
    tag: 'Accounts',
    name: 'changeAccount',
    summary: 'Change the name, plan or balance of an account',
    body: accountChange,
    shape: 'Account',
    kind: 'one',
    run: async ({ accounts }, { id, body }) => ({
      data: toAccountJson(orNotFound(await accounts.changeAccount(id, body), 'account', id)),
    }),
  }),
  row({
    method: 'GET',
    path: '/keys',
    tag: 'Keys',
    name: 'listKeys',
    summary: 'List keys in order of creation',
    query: keyList,
    shape: 'Key',
    kind: 'page',
    run: async ({ accounts }, { query: { accountId, limit, after } }) => {
      if (after !== undefined) orNotFound(await accounts.key(after), 'key', after);
      return readPage(limit, (count) => accounts.keys({ accountId, limit: count, after }), toKeyJson);
    },
  }),
  row({
    method: 'POST',
    path: '/keys',
    tag: 'Keys',
    name: 'mintKey',
    summary: 'Create a key, or import one of your own. The response is the only one that contains the key',
    body: newKey,
    shape: 'MadeKey',
    kind: 'one',
    run: async ({ accounts }, { body }) => {
      const accountId = body.accountId ?? (await accounts.defaultAccount()).id;
      const { key, record } = await accounts.mintKey({ ...body, accountId });
      return { data: { ...toKeyJson(record), key } };
    },
  }),
  row({
    method: 'PATCH',
    path: '/keys/{id}',
    tag: 'Keys',
    name: 'changeKey',
    summary: 'Change the name or expiry of a key',
    body: keyChange,
    shape: 'Key',
    kind: 'one',
    run: async ({ accounts }, { id, body }) => ({
      data: toKeyJson(orNotFound(await accounts.changeKey(id, body), 'key', id)),
    }),
  }),
  row({
    method: 'DELETE',
    path: '/keys/{id}',
    tag: 'Keys',
    name: 'revokeKey',
    summary: 'Revoke a key permanently. Its record is kept',
    shape: 'Key',
    kind: 'one',
    run: async ({ accounts }, { id }) => ({ data: toKeyJson(orNotFound(await accounts.revokeKey(id), 'key', id)) }),
  }),
  row({
    method: 'GET',
    path: '/usage',
    tag: 'Usage',
    name: 'sumUsage',
    summary: 'Get usage totals',
    query: usageQuery,
    shape: 'UsageSum',
    kind: 'list',
    run: async ({ usage }, { query: { by = [], ...rest } }) => ({ data: await usage.sums({ by, ...rest }) }),
  }),
  row({
    method: 'GET',
    path: '/plans',
    tag: 'Plans',
    name: 'listPlans',
    summary: 'List the plans and their limits',
    shape: 'Plan',
    kind: 'list',
    run: async ({ plans }) => ({ data: Object.values(plans) }),
  }),
  row({
    method: 'GET',
    path: '/hosts',
    tag: 'Hosts',
    name: 'listHosts',
    summary: 'List the hosts that took the most time to fetch in the last 24 hours, by this process',
    query: hostList,
    shape: 'HostTime',
    kind: 'list',
    run: async ({ hostTimes }, { query: { limit } }) => ({ data: hostTimes.list(limit) }),
  }),
];
