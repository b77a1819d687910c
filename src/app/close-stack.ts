/** A stack of components that are closed in reverse order of their creation, even if creating a later one fails. */
import type { Log } from '#telemetry/log.ts';

export class CloseStack {
  readonly #closers: (() => unknown)[] = [];

  defer(close: () => unknown): void {
    this.#closers.push(close);
  }

  /** Adds a component to close, and returns it. */
  use<T extends { close(): unknown }>(part: T): T {
    this.#closers.push(() => part.close());
    return part;
  }

  /** Closes every component. If one fails, the failure is logged and the others are still closed. */
  async closeAll(log: Log): Promise<void> {
    for (const close of this.#closers.splice(0).reverse()) {
      await (async () => close())().catch((error: unknown) =>
        log.warn({ err: error }, 'a part of the server did not close cleanly'),
      );
    }
  }
}
