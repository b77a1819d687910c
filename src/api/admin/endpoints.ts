/** THE table of the admin API: what is asked where, with what, and what is answered. Routes and OpenAPI are drawn from it. */
import type { z } from 'zod';
import { type Accounts, showAccount, showKey, type Usage } from '#accounts/index.ts';
import { problem } from '#errors.ts';
import type { Plans } from '#plans.ts';
import {
  accountChange,
  accountList,
  accountShape,
  keyChange,
  keyList,
  keyShape,
  madeKeyShape,
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
}

/** The components of the description. */
export const ADMIN_SHAPES = {
  Account: accountShape,
  Key: keyShape,
  MadeKey: madeKeyShape,
  UsageSum: usageShape,
  Plan: planShape,
};

interface Asked<Query, Body> {
  readonly id: string;
  readonly query: Query;
  readonly body: Body;
}

interface Row<Query extends z.ZodType, Body extends z.ZodType> {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly name: string;
  readonly summary: string;
  readonly query?: Query;
  readonly body?: Body;
  readonly shape: keyof typeof ADMIN_SHAPES;
  /** `page` has `next`, the id to go on behind. */
  readonly kind: 'one' | 'list' | 'page';
  readonly run: (modules: AdminModules, asked: Asked<z.output<Query>, z.output<Body>>) => Promise<AdminAnswer>;
}

export interface AdminAnswer {
  readonly data: unknown;
  readonly next?: string | null;
}

export type AdminRoute = Row<z.ZodType, z.ZodType>;

// Each row is typed by its own shapes; together they are run with values that were checked by them.
const row = <Query extends z.ZodType, Body extends z.ZodType>(made: Row<Query, Body>) => made as unknown as AdminRoute;

const found = <T>(value: T | undefined, what: string, id: string): T => {
  if (value !== undefined) return value;
  throw problem('ResourceNotFoundError', { path: 'id', message: `There is no ${what} ${id}` });
};

/** One more is asked for than is shown, to know whether the list goes on. */
async function page<T extends { readonly id: string }>(
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
    name: 'listAccounts',
    summary: 'Accounts in the order of their making',
    query: accountList,
    shape: 'Account',
    kind: 'page',
    run: async ({ accounts }, { query: { limit, after } }) => {
      if (after !== undefined) found(await accounts.account(after), 'account', after);
      return page(limit, (count) => accounts.accounts({ limit: count, after }), showAccount);
    },
  }),
  row({
    method: 'POST',
    path: '/accounts',
    name: 'createAccount',
    summary: 'Make an account',
    body: newAccount,
    shape: 'Account',
    kind: 'one',
    run: async ({ accounts }, { body }) => ({ data: showAccount(await accounts.createAccount(body)) }),
  }),
  row({
    method: 'GET',
    path: '/accounts/{id}',
    name: 'getAccount',
    summary: 'One account',
    shape: 'Account',
    kind: 'one',
    run: async ({ accounts }, { id }) => ({ data: showAccount(found(await accounts.account(id), 'account', id)) }),
  }),
  row({
    method: 'PATCH',
    path: '/accounts/{id}',
    name: 'changeAccount',
    summary: 'Change name, plan or balance of an account',
    body: accountChange,
    shape: 'Account',
    kind: 'one',
    run: async ({ accounts }, { id, body }) => ({
      data: showAccount(found(await accounts.changeAccount(id, body), 'account', id)),
    }),
  }),
  row({
    method: 'GET',
    path: '/keys',
    name: 'listKeys',
    summary: 'Keys in the order of their making',
    query: keyList,
    shape: 'Key',
    kind: 'page',
    run: async ({ accounts }, { query: { accountId, limit, after } }) => {
      if (after !== undefined) found(await accounts.key(after), 'key', after);
      return page(limit, (count) => accounts.keys({ accountId, limit: count, after }), showKey);
    },
  }),
  row({
    method: 'POST',
    path: '/keys',
    name: 'mintKey',
    summary: 'Make a key, or take one of your own; its text is told this once',
    body: newKey,
    shape: 'MadeKey',
    kind: 'one',
    run: async ({ accounts }, { body }) => {
      const accountId = body.accountId ?? (await accounts.defaultAccount()).id;
      const { key, record } = await accounts.mintKey({ ...body, accountId });
      return { data: { ...showKey(record), key } };
    },
  }),
  row({
    method: 'PATCH',
    path: '/keys/{id}',
    name: 'changeKey',
    summary: 'Change the name or the end of a key',
    body: keyChange,
    shape: 'Key',
    kind: 'one',
    run: async ({ accounts }, { id, body }) => ({
      data: showKey(found(await accounts.changeKey(id, body), 'key', id)),
    }),
  }),
  row({
    method: 'DELETE',
    path: '/keys/{id}',
    name: 'revokeKey',
    summary: 'Revoke a key for good; its record stays',
    shape: 'Key',
    kind: 'one',
    run: async ({ accounts }, { id }) => ({ data: showKey(found(await accounts.revokeKey(id), 'key', id)) }),
  }),
  row({
    method: 'GET',
    path: '/usage',
    name: 'sumUsage',
    summary: 'Sums of what was used',
    query: usageQuery,
    shape: 'UsageSum',
    kind: 'list',
    run: async ({ usage }, { query: { by = [], ...rest } }) => ({ data: await usage.sums({ by, ...rest }) }),
  }),
  row({
    method: 'GET',
    path: '/plans',
    name: 'listPlans',
    summary: 'The plans in force',
    shape: 'Plan',
    kind: 'list',
    run: async ({ plans }) => ({ data: Object.values(plans) }),
  }),
];
