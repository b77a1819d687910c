/**
 * Access control. Identifies the caller of a request, checks the caller's plan, and counts the request against the
 * caller's limits before any work is done. Each admitted request gets an Admission, which must be ended exactly once,
 * regardless of the outcome of the request.
 */
import { problem } from '#errors.ts';
import type { Feature, Plans } from '#plans.ts';
import type { Counters } from '#storage/counters/counters.ts';
import type { AccessRule, Admission, Caller, Credentials, ShowLimits } from './admission.ts';
import { readAnyKey, readBearer } from './authorization.ts';
import { createKeyAdmission, limitState, takeCounters } from './key-admission.ts';
import { asUnavailable, clientIpLimit } from './limit-problems.ts';
import { limiterKeyOf } from './limiter-key.ts';
import type { Accounts, Identity, Usage } from './records.ts';

export interface AccessControl {
  /**
   * Admits a request, or rejects with the problem to send to the caller. Calls `show` with the state of the caller's
   * limits, even before a rejection, and again when tokens are reserved.
   */
  admit(rule: AccessRule, credentials: Credentials, show?: ShowLimits): Promise<Admission>;
  /**
   * Identifies the caller without counting the request. Rejects in the same way as `admit` if the credentials are
   * invalid.
   */
  identifyCaller(rule: AccessRule, credentials: Credentials): Promise<Caller>;
}

export interface AccessControlOptions {
  readonly accounts: Pick<Accounts, 'identify'>;
  readonly usage: Pick<Usage, 'hold' | 'journal' | 'charge'>;
  readonly counters: Counters;
  readonly plans: Plans;
  /** If `off`, all requests are admitted and none are counted. */
  readonly auth: 'on' | 'off';
  /** Requests per minute and IP address for callers without a key; `undefined` for no limit. */
  readonly keylessRpm: number | undefined;
  readonly keylessFeatures: readonly Feature[];
  /** Requests per minute and IP address with an invalid key, or without a key where one is required. */
  readonly refusedRpm: number;
  readonly now?: () => number;
}

/** Requests per minute and IP address for callers whom the operator admits in a private network. */
const PRIVATE_RPM = 600;

export function createAccessControl(options: AccessControlOptions): AccessControl {
  const { accounts, usage, counters, plans, keylessFeatures, keylessRpm, refusedRpm, now = Date.now } = options;
  const admitKey = createKeyAdmission({ usage, counters, plans, now });

  /** Counts a refused request against the client's IP address, and returns the problem to send. */
  async function refusal(name: Parameters<typeof problem>[0], clientIp: string): Promise<Error> {
    const window = { bucket: `refused:${limiterKeyOf(clientIp)}`, limit: refusedRpm, amount: 1 };
    // If the refusal cannot be counted, the request is refused nevertheless.
    const taken = await counters.take({ windows: [window] }).catch(() => undefined);
    return taken && !taken.ok ? clientIpLimit(taken.waitMs) : problem(name, {});
  }

  /** Returns `undefined` for a caller without a key, if the endpoint admits such callers. */
  async function identify(rule: AccessRule, { authorization, clientIp }: Credentials): Promise<Identity | undefined> {
    const isStrict = rule.authorization === 'bearer';
    const given = (isStrict ? readBearer : readAnyKey)(authorization);
    if (given.kind === 'key') {
      const identity = await accounts.identify(given.key).catch((error: unknown) => {
        throw asUnavailable(error);
      });
      if (identity) return identity;
      throw await refusal('AuthenticationFailedError', clientIp);
    }
    if (given.kind === 'malformed') {
      throw await refusal(isStrict ? 'AuthenticationFormatError' : 'AuthenticationFailedError', clientIp);
    }
    const isRefused = rule.keyless === 'refused' || (rule.keyless === 'limited' && keylessRpm === 0);
    if (isRefused) throw await refusal('AuthenticationRequiredError', clientIp);
    return undefined;
  }

  async function admitKeyless(rule: AccessRule, clientIp: string, show: ShowLimits): Promise<Admission> {
    if (keylessRpm !== undefined) {
      const isPrivate = rule.keyless === 'private';
      const limit = isPrivate ? Math.max(PRIVATE_RPM, keylessRpm) : keylessRpm;
      const bucket = `${isPrivate ? 'private' : 'keyless'}:${rule.endpoint}:${limiterKeyOf(clientIp)}`;
      const taken = await takeCounters(counters, { windows: [{ bucket, limit, amount: 1 }] });
      show({ requests: limitState(limit, taken.windows[0]!) });
      if (!taken.ok) throw clientIpLimit(taken.waitMs);
    }
    return {
      caller: { kind: 'keyless' },
      requireFeature(feature, path) {
        if (keylessFeatures.includes(feature)) return;
        throw problem('AuthenticationRequiredError', { path, message: `${path} needs an API key on this server` });
      },
      reserveTokens: async () => {},
      recordCost() {},
      beforeResponse: (_, done) => done(),
      end() {},
    };
  }

  return {
    async admit(rule, credentials, show = () => {}) {
      if (options.auth === 'off') return OPEN;
      const identity = await identify(rule, credentials);
      return identity ? admitKey(rule, identity, show) : admitKeyless(rule, credentials.clientIp, show);
    },
    async identifyCaller(rule, credentials) {
      if (options.auth === 'off') return OPEN.caller;
      const identity = await identify(rule, credentials);
      return identity ? { kind: 'key', ...identity } : { kind: 'keyless' };
    },
  };
}

/** The admission used for every request if no keys are required. */
const OPEN: Admission = {
  caller: { kind: 'open' },
  requireFeature() {},
  reserveTokens: async () => {},
  recordCost() {},
  beforeResponse: (_, done) => done(),
  end() {},
};
