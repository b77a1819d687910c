/**
 * The tables of the accounts module, as created by the migrations. Times are Unix milliseconds, and amounts are tokens.
 */
import type { Kysely } from 'kysely';
import type { PlanName } from '#plans.ts';

export interface Tables {
  accounts: { id: string; name: string; plan: PlanName; balance: number | null; created_at: number };
  api_keys: {
    id: string;
    account_id: string;
    name: string;
    /** HMAC-SHA-256 of the key, in hex, with the installation's secret. */
    hash: string;
    shown: string;
    created_at: number;
    expires_at: number | null;
    revoked_at: number | null;
    last_used_at: number | null;
  };
  holds: { id: string; account_id: string; tokens: number; expires_at: number };
  /** One row per request, deleted after the retention time. */
  usage_details: {
    id: string;
    at: number;
    account_id: string;
    key_id: string;
    face: string;
    endpoint: string;
    model: string;
    tokens: number;
    status: number;
    duration_ms: number;
  };
  /** Rows are never deleted. `day` is `YYYY-MM-DD` in UTC. */
  usage_sums: {
    day: string;
    account_id: string;
    key_id: string;
    face: string;
    endpoint: string;
    model: string;
    requests: number;
    failed: number;
    tokens: number;
    duration_ms: number;
  };
  /** Values shared by all servers that use the same database. */
  installation: { name: string; value: string };
}

export type Db = Kysely<Tables>;
