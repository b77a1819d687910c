/** Durations of the queue, in milliseconds. Tests use shorter ones. */
export interface QueueTimes {
  /** Interval at which servers and workers renew what they hold. A worker notices a cancelled request after it. */
  readonly renewMs: number;
  /** After this time without renewal, a server or a worker counts as ended. */
  readonly leaseMs: number;
  /** After this time without Redis, or with a request that Redis no longer has, the request fails. */
  readonly lostMs: number;
  /** Redis keeps a request for this time after its worker last renewed it, and an answer until it is fetched. */
  readonly keepMs: number;
}

export const QUEUE_TIMES: QueueTimes = { renewMs: 500, leaseMs: 15_000, lostMs: 3_000, keepMs: 60_000 };
