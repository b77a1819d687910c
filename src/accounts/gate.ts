/**
 * Who is let in. A request is identified, held against its plan, and counted before any work is done; what the work cost
 * is settled when it ends. Each caller gets a Visit, which must be ended once, however the request ends.
 */
import { asProblem, problem } from '#errors.ts';
import type { Endpoint, EndpointLimits, Feature, Plans } from '#plans.ts';
import {
  type Counters,
  CountersUnavailableError,
  type Lease,
  type Taken,
  WINDOW_MS,
  type WindowState,
} from '#storage/counters/counters.ts';
import { DatabaseUnavailableError } from '#storage/database/unavailable.ts';
import { readAnyKey, readBearer } from './authorization.ts';
import { newId } from './ids.ts';
import { limiterKeyOf } from './limiter-key.ts';
import type { Accounts, Hold, Identity, Usage } from './records.ts';

export type Caller =
  | ({ readonly kind: 'key' } & Identity)
  /** Nobody needs a key on this server. */
  | { readonly kind: 'open' }
  | { readonly kind: 'keyless' };

/** The id of the caller's account; undefined for callers without one. */
export const accountOf = (caller: Caller): string | undefined =>
  caller.kind === 'key' ? caller.account.id : undefined;

/** What is asked for, and how callers of it are treated. */
export interface AccessRule {
  readonly face: string;
  readonly endpoint: Endpoint;
  /** Whether `Bearer key` is insisted on, or the last word of the header is the key. */
  readonly authorization: 'bearer' | 'any key';
  /** Callers without a key: refused, or let in at the rate for their address. */
  readonly keyless: 'refused' | 'limited';
  /** Tokens of a balance that are set aside where nobody can tell beforehand what the work costs. */
  readonly expectedTokens?: number | undefined;
}

export interface Credentials {
  /** Each Authorization header that came, as it came. */
  readonly authorization: readonly string[];
  /** The address of the caller. */
  readonly clientIp: string;
}

/** Where a caller stands in one window. */
export interface LimitState {
  readonly limit: number;
  readonly remaining: number;
  readonly resetMs: number;
}

export interface LimitStates {
  readonly requests?: LimitState | undefined;
  readonly tokens?: LimitState | undefined;
}

export interface Admission {
  readonly caller: Caller;
  /**
   * Refuses a feature that the caller's plan has not: TierFeatureConstraintError, or AuthenticationRequiredError without
   * a key. `path` is the option that asks for it.
   */
  requireFeature(feature: Feature, path: string): void;
  /**
   * Reserves what the work will cost, before it is done: RateLimitTriggeredError or InsufficientBalanceError when there
   * is not so much left, ResourceLimitExceededError for more than the plan grants in a whole minute.
   */
  reserveTokens(tokens: number): Promise<void>;
  /** Notes what the work cost; the last word counts. */
  recordCost(cost: { readonly tokens: number; readonly model?: string }): void;
  /** Gives back what was not spent and charges the rest; a second call does nothing. */
  end(status: number): void;
}

export interface Gate {
  /**
   * Lets a request in or rejects with the problem it has. `show` is told where the caller stands, also before a refusal,
   * and again when tokens are taken.
   */
  admit(access: AccessRule, credentials: Credentials, show?: (standings: LimitStates) => void): Promise<Admission>;
  /** Whose key it is, for a door whose calls go on to others, which count them: a wrong key is refused, as `admit` would. */
  identifyCaller(access: AccessRule, credentials: Credentials): Promise<Caller>;
}

export interface GateOptions {
  readonly accounts: Pick<Accounts, 'identify'>;
  readonly usage: Pick<Usage, 'hold' | 'charge'>;
  readonly counters: Counters;
  readonly plans: Plans;
  /** `off` lets everybody in and counts nobody. */
  readonly auth: 'on' | 'off';
  /** Requests a minute of one address without a key; undefined for no limit. */
  readonly keylessRpm: number | undefined;
  readonly keylessFeatures: readonly Feature[];
  /** Requests a minute of one address that come with a wrong key, or with none where one is needed. */
  readonly refusedRpm: number;
  readonly now?: () => number;
}

/** How soon to come again when the store of accounts or limits is away. */
const AWAY_S = 2;

export function createGate(options: GateOptions): Gate {
  const { accounts, usage, counters, plans, keylessFeatures, keylessRpm, refusedRpm, now = Date.now } = options;

  async function take(...args: Parameters<Counters['take']>): Promise<Taken> {
    try {
      return await counters.take(...args);
    } catch (error) {
      throw away(error);
    }
  }

  /** Counts a refusal against the address it comes from, and gives the problem to refuse it with. */
  async function refusal(name: Parameters<typeof problem>[0], address: string, message?: string): Promise<Error> {
    const window = { bucket: `refused:${limiterKeyOf(address)}`, limit: refusedRpm, amount: 1 };
    // What cannot be counted is refused all the same.
    const taken = await counters.take({ windows: [window] }).catch(() => undefined);
    return taken && !taken.ok ? addressLimit(taken.waitMs) : problem(name, message === undefined ? {} : { message });
  }

  async function identify(access: AccessRule, { authorization, clientIp }: Credentials): Promise<Identity | undefined> {
    const given = (access.authorization === 'bearer' ? readBearer : readAnyKey)(authorization);
    if (given.kind === 'key') {
      const identity = await accounts.identify(given.key).catch((error: unknown) => {
        throw away(error);
      });
      if (identity) return identity;
      throw await refusal('AuthenticationFailedError', clientIp);
    }
    if (given.kind === 'malformed') {
      const strict = access.authorization === 'bearer';
      throw await refusal(strict ? 'AuthenticationFormatError' : 'AuthenticationFailedError', clientIp);
    }
    if (access.keyless === 'refused' || keylessRpm === 0) throw await refusal('AuthenticationRequiredError', clientIp);
    return undefined;
  }

  async function admitKeyless(access: AccessRule, address: string, show: Show): Promise<Admission> {
    if (keylessRpm !== undefined) {
      const bucket = `keyless:${access.endpoint}:${limiterKeyOf(address)}`;
      const taken = await take({ windows: [{ bucket, limit: keylessRpm, amount: 1 }] });
      show({ requests: standing(keylessRpm, taken.windows[0]!) });
      if (!taken.ok) throw addressLimit(taken.waitMs);
    }
    return {
      caller: { kind: 'keyless' },
      requireFeature(feature, path) {
        if (keylessFeatures.includes(feature)) return;
        throw problem('AuthenticationRequiredError', { path, message: `${path} needs an API key on this server` });
      },
      reserveTokens: async () => {},
      recordCost() {},
      end() {},
    };
  }

  async function admitKey(access: AccessRule, identity: Identity, show: Show): Promise<Admission> {
    const { key, account } = identity;
    const { face, endpoint, expectedTokens } = access;
    const startedAt = now();
    // One that this version does not know grants the least.
    const plan = plans[account.plan] ?? plans.free;
    const limits = plan.endpoints[endpoint];
    const buckets = { requests: `rpm:${key.id}:${endpoint}`, tokens: `tpm:${key.id}:${endpoint}` };
    if (account.balance !== null && account.balance <= 0) throw problem('InsufficientBalanceError');

    const { lease, states } = await admitted(limits, plan.concurrency, key.id, buckets);
    let hold: Hold | undefined;
    let reserved: { tokens: number; slot: number } | undefined;
    let taking: Promise<void> | undefined;
    let spent: { tokens: number; model: string } | undefined;
    let ended = false;

    async function setAside(wanted: number, least: number): Promise<void> {
      if (account.balance === null || wanted <= 0) return;
      const made = await usage.hold(account.id, { wanted, least }).catch((error: unknown) => {
        throw away(error);
      });
      if (!made) throw problem('InsufficientBalanceError');
      hold = made;
    }

    async function reserve(tokens: number): Promise<void> {
      const limit = limits.tokensPerMinute;
      if (limit !== undefined) {
        if (tokens > limit) throw neverFits(tokens, limit, plan.name);
        const taken = await take({ windows: [{ bucket: buckets.tokens, limit, amount: tokens }] });
        show({ ...states, tokens: standing(limit, taken.windows[0]!) });
        if (!taken.ok) throw tokenLimit(taken.current, limit, taken.waitMs);
        reserved = { tokens, slot: taken.slot };
      }
      await setAside(tokens, tokens);
    }

    function settle(tokens: number): void {
      if (reserved && tokens !== reserved.tokens) {
        counters.settle(buckets.tokens, reserved.slot, tokens - reserved.tokens);
      }
    }

    const admission: Admission = {
      caller: { kind: 'key', ...identity },
      requireFeature(feature, path) {
        if (plan.features.includes(feature)) return;
        const message = `The plan ${plan.name} does not include ${path}`;
        throw problem('TierFeatureConstraintError', { path, message });
      },
      reserveTokens(tokens) {
        taking = reserve(tokens).finally(() => {
          taking = undefined;
        });
        return taking;
      },
      recordCost: ({ tokens, model = '' }) => {
        spent = { tokens, model };
      },
      end(status) {
        if (ended) return;
        ended = true;
        if (lease) counters.release(lease);
        const { tokens = 0, model = '' } = spent ?? {};
        const durationMs = Math.max(0, Math.round(now() - startedAt));
        const finish = () => {
          settle(tokens);
          const ids = { id: newId(), accountId: account.id, keyId: key.id };
          usage.charge({ ...ids, at: startedAt, face, endpoint, model, tokens, status, durationMs, hold });
        };
        // A caller who leaves while tokens are being taken gets them back once it is known which.
        if (taking) taking.then(finish, finish);
        else finish();
      },
    };

    async function admitted(
      { requestsPerMinute, tokensPerMinute }: EndpointLimits,
      concurrency: number | undefined,
      keyId: string,
      names: { requests: string; tokens: string },
    ): Promise<{ lease?: Lease | undefined; states: LimitStates }> {
      const requests =
        requestsPerMinute === undefined ? [] : [{ bucket: names.requests, limit: requestsPerMinute, amount: 1 }];
      // Only looked at, so that every answer can tell.
      const tokens = tokensPerMinute === undefined ? [] : [{ bucket: names.tokens, limit: tokensPerMinute, amount: 0 }];
      if (!requests.length && !tokens.length && concurrency === undefined) return { states: {} };
      const taken = await take({
        windows: [...requests, ...tokens],
        lease: concurrency === undefined ? undefined : { bucket: `flight:${keyId}`, limit: concurrency },
      });
      const found: LimitStates = {
        ...(requests.length && { requests: standing(requestsPerMinute!, taken.windows[0]!) }),
        ...(tokens.length && { tokens: standing(tokensPerMinute!, taken.windows[requests.length]!) }),
      };
      show(found);
      if (taken.ok) return { lease: taken.lease, states: found };
      if (taken.over === 'lease') throw concurrencyLimit(taken.current, taken.limit, taken.waitMs);
      const over = taken.over === 0 && requests.length ? requestLimit : tokenLimit;
      throw over(taken.current, taken.limit, taken.waitMs);
    }

    if (expectedTokens !== undefined) {
      await setAside(expectedTokens, 1).catch((error: unknown) => {
        admission.end(asProblem(error).code);
        throw error;
      });
    }
    return admission;
  }

  return {
    async admit(access, credentials, show = () => {}) {
      if (options.auth === 'off') return OPEN;
      const identity = await identify(access, credentials);
      return identity ? admitKey(access, identity, show) : admitKeyless(access, credentials.clientIp, show);
    },
    async identifyCaller(access, credentials) {
      if (options.auth === 'off') return OPEN.caller;
      const identity = await identify(access, credentials);
      return identity ? { kind: 'key', ...identity } : { kind: 'keyless' };
    },
  };
}

type Show = (standings: LimitStates) => void;

const OPEN: Admission = {
  caller: { kind: 'open' },
  requireFeature() {},
  reserveTokens: async () => {},
  recordCost() {},
  end() {},
};

const standing = (limit: number, { used, resetMs }: WindowState): LimitState => ({
  limit,
  remaining: Math.max(0, limit - used),
  resetMs,
});

const seconds = (ms: number) => Math.max(1, Math.ceil(ms / 1000));

const addressLimit = (waitMs: number) =>
  problem('RateLimitTriggeredError', {
    message: 'IP rate limit exceeded',
    limitedBy: 'address',
    retryAfter: seconds(waitMs),
  });
const concurrencyLimit = (current: number, limit: number, waitMs: number) =>
  problem('RateLimitTriggeredError', {
    message: `Concurrency limit exceeded: ${current}/${limit} concurrent requests`,
    limitedBy: 'concurrency',
    retryAfter: seconds(waitMs),
  });
const requestLimit = (current: number, limit: number, waitMs: number) =>
  problem('RateLimitTriggeredError', {
    message: `Request rate limit exceeded: ${current}/${limit} requests per minute`,
    limitedBy: 'requests',
    retryAfter: seconds(waitMs),
  });
const tokenLimit = (current: number, limit: number, waitMs = WINDOW_MS) =>
  problem('RateLimitTriggeredError', {
    message: `Token rate limit exceeded: ${current}/${limit} tokens per minute`,
    limitedBy: 'tokens',
    retryAfter: seconds(waitMs),
  });

/** Waiting does not help, so that it is no rate limit: clients repeat those by themselves. */
const neverFits = (tokens: number, limit: number, plan: string) =>
  problem('ResourceLimitExceededError', {
    message: `Resource limit exceeded for the plan: this request has ${tokens} tokens, and the plan ${plan} allows ${limit} tokens per minute. Send it in parts`,
  });

/** The problem that a store which is away is to the caller; anything else stays what it is. */
const away = (error: unknown): unknown =>
  error instanceof CountersUnavailableError || error instanceof DatabaseUnavailableError
    ? problem('ServiceAwayError', { retryAfter: AWAY_S }, error)
    : error;
