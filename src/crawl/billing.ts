/** Who pays for reads. */

/** A read of a page, for the account that pays for it. */
export interface ChargedRead {
  /** Makes that it counts once, however often it is charged. */
  readonly id: string;
  readonly owner: string;
  readonly account: string;
  readonly at: number;
  readonly ms: number;
  readonly model: string;
  readonly tokens: number;
  readonly status: number;
}

/** Something set aside for a read, a value of JSON; what it is only the purse knows, of this server or another one. */
export type Reserve = unknown;

export interface Billing {
  /** Before a read: sets something aside for it. Throws a Problem when the owner may not read any more. */
  reserve(payer: { readonly owner: string; readonly account: string }): Promise<Reserve>;
  /** Notes a read that nobody has to pay for, and gives back what was set aside. */
  note(read: ChargedRead, reserve: Reserve): void;
  /** Charges reads, or rejects; it may be called again with the same ones. */
  charge(reads: readonly (ChargedRead & { readonly reserve: Reserve })[]): Promise<void>;
}
