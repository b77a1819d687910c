/** A stack of parts that are closed in reverse order of their creation, even if creating a later part fails. */
import type { Log } from '#telemetry/log.ts';

export class CloseStack {
  readonly #closers: (() => unknown)[] = [];

  defer(close: () => unknown): void {
    this.#closers.push(close);
  }

  /** Adds a part to close, and returns it. */
  use<T extends { close(): unknown }>(part: T): T {
    this.#closers.push(() => part.close());
    return part;
  }

  /** Closes every part. A failure is logged, and the other parts are still closed. */
  async closeAll(log: Log): Promise<void> {
    for (const close of this.#closers.splice(0).reverse()) {
      await (async () => close())().catch((error: unknown) =>
        log.warn({ err: error }, 'a part of the server did not close cleanly'),
      );
    }
  }
}
