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
import { countedAddress } from './addresses.ts';
import { readAnyKey, readBearer } from './authorization.ts';
import { newId } from './ids.ts';
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
export interface Entrance {
  readonly face: string;
  readonly endpoint: Endpoint;
  /** Whether `Bearer key` is insisted on, or the last word of the header is the key. */
  readonly authorization: 'bearer' | 'any key';
  /** Callers without a key: refused, or let in at the rate for their address. */
  readonly keyless: 'refused' | 'limited';
  /** Tokens of a balance that are set aside where nobody can tell beforehand what the work costs. */
  readonly expectedTokens?: number | undefined;
}

export interface Asking {
  /** Each Authorization header that came, as it came. */
  readonly authorization: readonly string[];
  /** The address of the caller. */
  readonly address: string;
}

/** Where a caller stands in one window. */
export interface Standing {
  readonly limit: number;
  readonly remaining: number;
  readonly resetMs: number;
}

export interface Standings {
  readonly requests?: Standing | undefined;
  readonly tokens?: Standing | undefined;
}

export interface Visit {
  readonly caller: Caller;
  /**
   * Refuses a feature that the caller's plan has not: TierFeatureConstraintError, or AuthenticationRequiredError without
   * a key. `path` is the option that asks for it.
   */
  allow(feature: Feature, path: string): void;
  /**
   * Reserves what the work will cost, before it is done: RateLimitTriggeredError or InsufficientBalanceError when there
   * is not so much left, ResourceLimitExceededError for more than the plan grants in a whole minute.
   */
  takeTokens(tokens: number): Promise<void>;
  /** Notes what the work cost; the last word counts. */
  spend(cost: { readonly tokens: number; readonly model?: string }): void;
  /** Gives back what was not spent and charges the rest; a second call does nothing. */
  end(status: number): void;
}

export interface Gate {
  /**
   * Lets a request in or rejects with the problem it has. `show` is told where the caller stands, also before a refusal,
   * and again when tokens are taken.
   */
  admit(entrance: Entrance, asking: Asking, show?: (standings: Standings) => void): Promise<Visit>;
  /** Whose key it is, for a door whose calls go on to others, which count them: a wrong key is refused, as `admit` would. */
  recognize(entrance: Entrance, asking: Asking): Promise<Caller>;
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
    const window = { bucket: `refused:${countedAddress(address)}`, limit: refusedRpm, amount: 1 };
    // What cannot be counted is refused all the same.
    const taken = await counters.take({ windows: [window] }).catch(() => undefined);
    return taken && !taken.ok ? addressLimit(taken.waitMs) : problem(name, message === undefined ? {} : { message });
  }

  async function identify(entrance: Entrance, { authorization, address }: Asking): Promise<Identity | undefined> {
    const given = (entrance.authorization === 'bearer' ? readBearer : readAnyKey)(authorization);
    if (given.kind === 'key') {
      const identity = await accounts.identify(given.key).catch((error: unknown) => {
        throw away(error);
      });
      if (identity) return identity;
      throw await refusal('AuthenticationFailedError', address);
    }
    if (given.kind === 'malformed') {
      const strict = entrance.authorization === 'bearer';
      throw await refusal(strict ? 'AuthenticationFormatError' : 'AuthenticationFailedError', address);
    }
    if (entrance.keyless === 'refused' || keylessRpm === 0) throw await refusal('AuthenticationRequiredError', address);
    return undefined;
  }

  async function admitKeyless(entrance: Entrance, address: string, show: Show): Promise<Visit> {
    if (keylessRpm !== undefined) {
      const bucket = `keyless:${entrance.endpoint}:${countedAddress(address)}`;
      const taken = await take({ windows: [{ bucket, limit: keylessRpm, amount: 1 }] });
      show({ requests: standing(keylessRpm, taken.windows[0]!) });
      if (!taken.ok) throw addressLimit(taken.waitMs);
    }
    return {
      caller: { kind: 'keyless' },
      allow(feature, path) {
        if (keylessFeatures.includes(feature)) return;
        throw problem('AuthenticationRequiredError', { path, message: `${path} needs an API key on this server` });
      },
      takeTokens: async () => {},
      spend() {},
      end() {},
    };
  }

  async function admitKey(entrance: Entrance, identity: Identity, show: Show): Promise<Visit> {
    const { key, account } = identity;
    const { face, endpoint, expectedTokens } = entrance;
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

    const visit: Visit = {
      caller: { kind: 'key', ...identity },
      allow(feature, path) {
        if (plan.features.includes(feature)) return;
        const message = `The plan ${plan.name} does not include ${path}`;
        throw problem('TierFeatureConstraintError', { path, message });
      },
      takeTokens(tokens) {
        taking = reserve(tokens).finally(() => {
          taking = undefined;
        });
        return taking;
      },
      spend: ({ tokens, model = '' }) => {
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
    ): Promise<{ lease?: Lease | undefined; states: Standings }> {
      const requests =
        requestsPerMinute === undefined ? [] : [{ bucket: names.requests, limit: requestsPerMinute, amount: 1 }];
      // Only looked at, so that every answer can tell.
      const tokens = tokensPerMinute === undefined ? [] : [{ bucket: names.tokens, limit: tokensPerMinute, amount: 0 }];
      if (!requests.length && !tokens.length && concurrency === undefined) return { states: {} };
      const taken = await take({
        windows: [...requests, ...tokens],
        lease: concurrency === undefined ? undefined : { bucket: `flight:${keyId}`, limit: concurrency },
      });
      const found: Standings = {
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
        visit.end(asProblem(error).code);
        throw error;
      });
    }
    return visit;
  }

  return {
    async admit(entrance, asking, show = () => {}) {
      if (options.auth === 'off') return OPEN;
      const identity = await identify(entrance, asking);
      return identity ? admitKey(entrance, identity, show) : admitKeyless(entrance, asking.address, show);
    },
    async recognize(entrance, asking) {
      if (options.auth === 'off') return OPEN.caller;
      const identity = await identify(entrance, asking);
      return identity ? { kind: 'key', ...identity } : { kind: 'keyless' };
    },
  };
}

type Show = (standings: Standings) => void;

const OPEN: Visit = {
  caller: { kind: 'open' },
  allow() {},
  takeTokens: async () => {},
  spend() {},
  end() {},
};

const standing = (limit: number, { used, resetMs }: WindowState): Standing => ({
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
