/**
 * Admits a request with a key: checks the limits of its plan, reserves tokens, and charges the cost when the request
 * ends.
 */
import { asProblem, problem } from '#errors.ts';
import type { EndpointLimits, Plans } from '#plans.ts';
import type { Counters, Lease, TakeResult, WindowState, WindowTake } from '#storage/counters/counters.ts';
import type { AccessRule, Admission, LimitState, LimitStates, ShowLimits } from './admission.ts';
import { newId } from './ids.ts';
import { asUnavailable, concurrencyLimit, requestLimit, requestTooLarge, tokenLimit } from './limit-problems.ts';
import type { Account, Charge, Hold, Identity, Usage } from './records.ts';

export interface KeyAdmissionOptions {
  readonly usage: Pick<Usage, 'hold' | 'journal' | 'charge'>;
  readonly counters: Counters;
  readonly plans: Plans;
  readonly now: () => number;
}

type AdmitKey = (rule: AccessRule, identity: Identity, show: ShowLimits) => Promise<Admission>;

export const createKeyAdmission =
  ({ usage, counters, plans, now }: KeyAdmissionOptions): AdmitKey =>
  async (rule, identity, show) => {
    const { key, account } = identity;
    const { face, endpoint, expectedTokens } = rule;
    const startedAt = now();
    // A plan that this version does not know is treated as the smallest plan.
    const plan = plans[account.plan] ?? plans.free;
    const limits = plan.endpoints[endpoint];
    const buckets = { requests: `rpm:${key.id}:${endpoint}`, tokens: `tpm:${key.id}:${endpoint}` };
    if (account.balance !== null && account.balance <= 0) {
      // The request is not counted here, but every response shows the limits.
      await takeLimits({ counters, limits, buckets, flight: undefined, show, requests: 0 }).catch(() => {});
      throw problem('InsufficientBalanceError');
    }
    const flight = plan.concurrency === undefined ? undefined : { bucket: `flight:${key.id}`, limit: plan.concurrency };
    const { lease, states } = await takeLimits({ counters, limits, buckets, flight, show });
    const reservation = createReservation({
      usage,
      counters,
      account,
      bucket: buckets.tokens,
      limit: limits.tokensPerMinute,
      planName: plan.name,
      show: (tokens) => show({ requests: states.requests, tokens }),
    });
    let cost: { tokens: number; model: string } | undefined;
    let id: string | undefined;
    let responseStatus: number | undefined;
    let ended = false;

    function chargeOf(status: number, hold: Hold | undefined): Charge {
      id ??= newId();
      // Every field by its name: a spread followed by further fields takes longer than the rest of the admission.
      return {
        id,
        accountId: account.id,
        keyId: key.id,
        at: startedAt,
        face,
        endpoint,
        model: cost?.model ?? '',
        tokens: cost?.tokens ?? 0,
        status,
        durationMs: Math.max(0, Math.round(now() - startedAt)),
        hold,
      };
    }

    const admission: Admission = {
      caller: { kind: 'key', ...identity },
      requireFeature(feature, path) {
        if (plan.features.includes(feature)) return;
        const message = `The plan ${plan.name} does not include ${path}`;
        throw problem('TierFeatureConstraintError', { path, message });
      },
      reserveTokens: reservation.reserve,
      recordCost: ({ tokens, model = '' }) => {
        cost = { tokens, model };
        // A response that is being streamed: its next piece may say what it costs.
        if (responseStatus !== undefined && !ended) usage.journal(chargeOf(responseStatus, reservation.hold()));
      },
      beforeResponse(status, done) {
        if (ended) return done();
        responseStatus = status;
        usage.journal(chargeOf(status, reservation.hold()), done);
      },
      end(status) {
        if (ended) return;
        ended = true;
        if (lease) counters.release(lease);
        reservation.settle(cost?.tokens ?? 0, (hold) => usage.charge(chargeOf(status, hold)));
      },
    };
    if (expectedTokens !== undefined) {
      await reservation.holdBalance(expectedTokens, 1).catch((error: unknown) => {
        admission.end(asProblem(error).code);
        throw error;
      });
    }
    return admission;
  };

interface LimitRequest {
  readonly counters: Counters;
  readonly limits: EndpointLimits;
  readonly buckets: { readonly requests: string; readonly tokens: string };
  /** The limit on concurrent requests. */
  readonly flight: { readonly bucket: string; readonly limit: number } | undefined;
  readonly show: ShowLimits;
  /** Number of requests to count. Default: 1. */
  readonly requests?: number;
}

/**
 * Counts the request in its windows and acquires a lease for its concurrency limit. Throws the problem of the limit
 * that is exceeded.
 */
async function takeLimits({
  counters,
  limits: { requestsPerMinute, tokensPerMinute },
  buckets,
  flight,
  show,
  requests: amount = 1,
}: LimitRequest): Promise<{ lease?: Lease | undefined; states: LimitStates }> {
  const windows: WindowTake[] = [];
  if (requestsPerMinute !== undefined) windows.push({ bucket: buckets.requests, limit: requestsPerMinute, amount });
  const tokensAt = windows.length;
  // Reads the window without counting, so that every response can show its state.
  if (tokensPerMinute !== undefined) windows.push({ bucket: buckets.tokens, limit: tokensPerMinute, amount: 0 });
  if (!windows.length && flight === undefined) return { states: {} };
  const taken = await takeCounters(counters, { windows, lease: flight });
  const states: LimitStates = {
    requests: requestsPerMinute === undefined ? undefined : limitState(requestsPerMinute, taken.windows[0]!),
    tokens: tokensPerMinute === undefined ? undefined : limitState(tokensPerMinute, taken.windows[tokensAt]!),
  };
  show(states);
  if (taken.ok) return { lease: taken.lease, states };
  if (taken.over === 'lease') throw concurrencyLimit(taken.current, taken.limit, taken.waitMs);
  const over = taken.over === 0 && requestsPerMinute !== undefined ? requestLimit : tokenLimit;
  throw over(taken.current, taken.limit, taken.waitMs);
}

interface ReservationOptions {
  readonly usage: Pick<Usage, 'hold'>;
  readonly counters: Counters;
  readonly account: Account;
  /** The window for tokens per minute. */
  readonly bucket: string;
  readonly limit: number | undefined;
  readonly planName: string;
  readonly show: (tokens: LimitState) => void;
}

/** Reserves the tokens of one request in its window and from its balance, and settles them once the cost is known. */
function createReservation({ usage, counters, account, bucket, limit, planName, show }: ReservationOptions) {
  let hold: Hold | undefined;
  let reserved: { tokens: number; slot: number } | undefined;
  let running: Promise<void> | undefined;

  async function holdBalance(wanted: number, least: number): Promise<void> {
    if (account.balance === null || wanted <= 0) return;
    const made = await usage.hold(account.id, { wanted, least }).catch((error: unknown) => {
      throw asUnavailable(error);
    });
    if (!made) throw problem('InsufficientBalanceError');
    hold = made;
  }

  async function reserveNow(tokens: number): Promise<void> {
    if (limit !== undefined) {
      if (tokens > limit) throw requestTooLarge(tokens, limit, planName);
      const taken = await takeCounters(counters, { windows: [{ bucket, limit, amount: tokens }] });
      show(limitState(limit, taken.windows[0]!));
      if (!taken.ok) throw tokenLimit(taken.current, limit, taken.waitMs);
      reserved = { tokens, slot: taken.slot };
    }
    await holdBalance(tokens, tokens);
  }

  return {
    holdBalance,
    hold: () => hold,
    reserve(tokens: number): Promise<void> {
      running = reserveNow(tokens).finally(() => {
        running = undefined;
      });
      return running;
    },
    /** Corrects the window to the number of used tokens, then charges them and releases the hold. */
    settle(tokens: number, charge: (hold: Hold | undefined) => void): void {
      const finish = () => {
        if (reserved && tokens !== reserved.tokens) counters.settle(bucket, reserved.slot, tokens - reserved.tokens);
        charge(hold);
      };
      // If the caller disconnects during a reservation, settles once the reserved amount is known.
      if (running) running.then(finish, finish);
      else finish();
    },
  };
}

/** Calls `counters.take`. Throws ServiceAwayError if the counters are unreachable. */
export async function takeCounters(counters: Counters, ...args: Parameters<Counters['take']>): Promise<TakeResult> {
  try {
    return await counters.take(...args);
  } catch (error) {
    throw asUnavailable(error);
  }
}

export const limitState = (limit: number, { used, resetMs }: WindowState): LimitState => ({
  limit,
  remaining: Math.max(0, limit - used),
  resetMs,
});
