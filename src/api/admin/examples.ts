/**
 * Example requests and responses for the OpenAPI document of the admin API. The responses were recorded from a server.
 */

const ACCOUNT_ID = '01a208f6-8758-7000-ac2f-7233fcd8196b';
const KEY_ID = '01a208f6-87b9-7000-aed8-3a0f365f113e';

export const ADMIN_IDS = { Accounts: ACCOUNT_ID, Keys: KEY_ID, Usage: '', Plans: '', Hosts: '' };

/** Request bodies, keyed by operation name. */
export const ADMIN_BODIES: Readonly<Record<string, unknown>> = {
  createAccount: { name: 'search team', plan: 'paid', balance: 1_000_000 },
  changeAccount: { addBalance: 500_000 },
  mintKey: { name: 'laptop' },
  changeKey: { name: 'old laptop' },
};

const ACCOUNT = {
  id: ACCOUNT_ID,
  name: 'search team',
  plan: 'paid',
  balance: 1_000_000,
  createdAt: '2026-11-23T15:11:43.960Z',
};
const KEY = {
  id: KEY_ID,
  accountId: 'default',
  name: 'laptop',
  shown: 'lectern_u2Lk…',
  createdAt: '2026-11-23T15:11:44.057Z',
  expiresAt: null,
  revokedAt: null,
  lastUsedAt: null,
};
const PLAN = {
  name: 'free',
  concurrency: 5,
  features: ['scripts', 'generatedAlt', 'modelFormats', 'proxy'],
  labels: 64,
  classifiers: 16,
  endpoints: {
    reader: { requestsPerMinute: 500 },
    embeddings: { requestsPerMinute: 500, tokensPerMinute: 1_000_000 },
  },
};

export const ADMIN_ANSWERS: Readonly<Record<string, unknown>> = {
  listAccounts: { data: [ACCOUNT], next: null },
  createAccount: { data: ACCOUNT },
  getAccount: { data: ACCOUNT },
  changeAccount: { data: { ...ACCOUNT, balance: 1_500_000 } },
  listKeys: { data: [KEY], next: null },
  mintKey: { data: { ...KEY, key: 'lectern_u2LkEXAMPLEEXAMPLEEXAMPLEEXAMPLEEXAMPLE' } },
  changeKey: { data: { ...KEY, name: 'old laptop' } },
  revokeKey: { data: { ...KEY, revokedAt: '2026-11-23T15:11:44.735Z' } },
  sumUsage: { data: [{ requests: 13, failed: 0, tokens: 192, durationMs: 14_915 }] },
  listPlans: { data: [PLAN] },
  listHosts: {
    data: [
      {
        host: 'example.com',
        fetches: 13,
        failed: 1,
        totalMs: 9_812,
        p50Ms: 410,
        p95Ms: 2_904,
        lastAt: '2026-11-23T15:11:44.735Z',
      },
    ],
  },
};
