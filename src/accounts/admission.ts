/** Types of access control: the caller, the rule of the endpoint, and the admission of one request. */
import type { Endpoint, Feature } from '#plans.ts';
import type { Identity } from './records.ts';

export type Caller =
  | ({ readonly kind: 'key' } & Identity)
  /** The caller of a server that does not require keys (`LECTERN_AUTH=off`). */
  | { readonly kind: 'open' }
  | { readonly kind: 'keyless' };

/** Returns the id of the caller's account; `undefined` for callers without one. */
export const accountOf = (caller: Caller): string | undefined =>
  caller.kind === 'key' ? caller.account.id : undefined;

/** The access rule of an endpoint. */
export interface AccessRule {
  readonly face: string;
  readonly endpoint: Endpoint;
  /** The accepted Authorization header: exactly `Bearer KEY`, or a key with or without a scheme. */
  readonly authorization: 'bearer' | 'any key';
  /**
   * Callers without a key are refused, or admitted at the rate limit of their IP address. `private`: the operator
   * admits them because they are in a private network, at a higher rate limit.
   */
  readonly keyless: 'refused' | 'limited' | 'private';
  /** Tokens to reserve from a balance on admission, for endpoints whose cost is known only after the work. */
  readonly expectedTokens?: number | undefined;
}

export interface Credentials {
  /** All Authorization headers of the request, unchanged. */
  readonly authorization: readonly string[];
  readonly clientIp: string;
}

/** A caller's state in one rate-limit window. */
export interface LimitState {
  readonly limit: number;
  readonly remaining: number;
  readonly resetMs: number;
}

export interface LimitStates {
  readonly requests?: LimitState | undefined;
  readonly tokens?: LimitState | undefined;
}

/** Called with the state of the caller's limits once it is known. */
export type ShowLimits = (states: LimitStates) => void;

export interface Admission {
  readonly caller: Caller;
  /**
   * Throws TierFeatureConstraintError if the caller's plan does not include the feature, or AuthenticationRequiredError
   * if there is no key. `path` is the option that requires the feature.
   */
  requireFeature(feature: Feature, path: string): void;
  /**
   * Reserves the cost of the work before it starts. Rejects with RateLimitTriggeredError or InsufficientBalanceError if
   * not enough tokens are left, or if more tokens are requested than the plan allows per minute.
   */
  reserveTokens(tokens: number): Promise<void>;
  /** Records the cost of the work. Only the last call counts. */
  recordCost(cost: { readonly tokens: number; readonly model?: string }): void;
  /**
   * Makes sure that the cost is charged even if the process is killed from now on. Called before the response is sent,
   * with its status. Calls `done` when it may be sent.
   */
  beforeResponse(status: number, done: () => void): void;
  /** Charges the cost and releases the unused part of the reservation. A second call does nothing. */
  end(status: number): void;
}
