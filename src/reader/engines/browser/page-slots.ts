/** Limits the number of open pages. Reads beyond it wait in a bounded queue, in the order of their arrival. */
import { problem } from '#errors.ts';

export interface PageSlotsConfig {
  /** Maximum number of open pages. May change; call `refill` when it has grown. */
  readonly maxPages: () => number;
  /** Maximum number of reads that wait for a page. */
  readonly maxWaiting: number;
  /** Default: 30 s. */
  readonly maxWaitMs?: number | undefined;
}

interface Waiter {
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

export class PageSlots {
  readonly #config: PageSlotsConfig;
  readonly #waiting: Waiter[] = [];
  #open = 0;
  #closed = false;

  constructor(config: PageSlotsConfig) {
    this.#config = config;
  }

  get open(): number {
    return this.#open;
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  /** Waits for a slot. Throws ServiceNodeResourceDrainError if the queue is full or the wait is too long. */
  async acquire(signal: AbortSignal, waitMs = Number.POSITIVE_INFINITY): Promise<void> {
    signal.throwIfAborted();
    if (this.#closed) throw browserUnavailable('The server is stopping');
    if (this.#open < this.#config.maxPages()) {
      this.#open++;
      return;
    }
    if (this.#waiting.length >= this.#config.maxWaiting) throw browserUnavailable();
    let timer: NodeJS.Timeout | undefined;
    let stop: (() => void) | undefined;
    try {
      await new Promise<void>((resolve, reject) => {
        const waiter = { resolve, reject };
        const giveUp = (error: unknown) => {
          const at = this.#waiting.indexOf(waiter);
          if (at < 0) return;
          this.#waiting.splice(at, 1);
          reject(error);
        };
        stop = () => giveUp(signal.reason);
        timer = setTimeout(() => giveUp(browserUnavailable()), Math.min(waitMs, this.#config.maxWaitMs ?? 30_000));
        signal.addEventListener('abort', stop, { once: true });
        this.#waiting.push(waiter);
      });
    } finally {
      clearTimeout(timer);
      if (stop) signal.removeEventListener('abort', stop);
    }
  }

  /** Returns a slot, which the next waiting read takes. */
  release(): void {
    this.#open--;
    this.refill();
  }

  /** Lets waiting reads take free slots. */
  refill(): void {
    while (this.#open < this.#config.maxPages()) {
      const next = this.#waiting.shift();
      if (!next) return;
      this.#open++;
      next.resolve();
    }
  }

  /** Rejects all waiting and later reads. */
  close(): void {
    this.#closed = true;
    for (const waiter of this.#waiting.splice(0)) waiter.reject(browserUnavailable('The server is stopping'));
  }
}

export const browserUnavailable = (message?: string, facts: Record<string, unknown> = {}, cause?: unknown) =>
  problem('ServiceNodeResourceDrainError', { ...(message ? { message } : {}), retryAfter: 1, ...facts }, cause);
