/**
 * The way between the two halves of PDF.js, both in this thread. Its own one answers before any timer gets its turn, so
 * that a page that draws without end could never be given up; this one lets them have it now and then.
 */

type Listener = (event: { readonly data: unknown }) => void;

const LONGEST_TURN_MS = 50;

export interface Port {
  postMessage(message: unknown, transfer?: readonly ArrayBuffer[]): void;
  addEventListener(name: string, listener: Listener, options?: { readonly signal?: AbortSignal }): void;
  removeEventListener(name: string, listener: Listener): void;
  terminate(): void;
}

/** One port for both halves: each takes only what is addressed to it. */
export function createPort(): Port {
  const listeners = new Set<Listener>();
  let waiting: unknown[] = [];
  let isScheduled = false;
  let turnBegan = performance.now();
  const deliver = () => {
    isScheduled = false;
    const messages = waiting;
    waiting = [];
    for (const data of messages) for (const listener of listeners) listener({ data });
  };
  const deliverInNextTurn = () => {
    turnBegan = performance.now();
    deliver();
  };
  return {
    postMessage(message, transfer) {
      waiting.push(structuredClone(message, transfer ? { transfer: [...transfer] } : undefined));
      if (isScheduled) return;
      isScheduled = true;
      if (performance.now() - turnBegan > LONGEST_TURN_MS) setImmediate(deliverInNextTurn);
      else queueMicrotask(deliver);
    },
    addEventListener(_name, listener, options) {
      listeners.add(listener);
      options?.signal?.addEventListener('abort', () => listeners.delete(listener), { once: true });
    },
    removeEventListener(_name, listener) {
      listeners.delete(listener);
    },
    terminate() {
      listeners.clear();
      waiting = [];
    },
  };
}
