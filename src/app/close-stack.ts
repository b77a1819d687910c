/** What was started, to be ended in reverse: also when a part that came later could not be. */
import type { Log } from '#telemetry/log.ts';

export class CloseStack {
  readonly #ends: (() => unknown)[] = [];

  defer(end: () => unknown): void {
    this.#ends.push(end);
  }

  /** Notes that a part is to be closed, and gives it back. */
  use<T extends { close(): unknown }>(part: T): T {
    this.#ends.push(() => part.close());
    return part;
  }

  /** Each part is ended whatever becomes of the others. */
  async closeAll(log: Log): Promise<void> {
    for (const end of this.#ends.splice(0).reverse()) {
      await (async () => end())().catch((error: unknown) => log.warn({ err: error }, 'a part did not close cleanly'));
    }
  }
}
