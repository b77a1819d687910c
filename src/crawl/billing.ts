/** Charges for the pages that a crawl reads. */

/** One read of a page, and the account to charge for it. */
export interface ChargedRead {
  /** Idempotency key: charging twice with the same id counts once. */
  readonly id: string;
  readonly owner: string;
  readonly account: string;
  readonly at: number;
  readonly ms: number;
  readonly model: string;
  readonly tokens: number;
  readonly status: number;
}

/**
 * Tokens reserved for a read, as a JSON value that only `Billing` interprets. Another server may settle the
 * reservation.
 */
export type Reservation = unknown;

export interface Billing {
  /** Reserves tokens before a read. Throws a Problem if the owner may not read any more pages. */
  reserve(payer: { readonly owner: string; readonly account: string }): Promise<Reservation>;
  /** Records a free read and releases its reservation. */
  note(read: ChargedRead, reservation: Reservation): void;
  /** Charges reads and releases their reservations. After a rejection, it is called again with the same reads. */
  charge(reads: readonly (ChargedRead & { readonly reservation: Reservation })[]): Promise<void>;
}
