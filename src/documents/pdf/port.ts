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
      waiting.push(handedOver(message, transfer));
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

interface Operators {
  readonly fnArray: readonly number[];
  readonly argsArray: readonly unknown[];
}

/**
 * What the other half gets: a copy, as between threads. Of a list of operators, whose sender empties it and keeps nothing
 * else of it, only the list is copied: copies of each sign would take a third of the time.
 */
function handedOver(message: unknown, transfer: readonly ArrayBuffer[] | undefined): unknown {
  const chunk = (message as { readonly chunk?: Partial<Operators> | null }).chunk;
  if (!chunk?.fnArray || !chunk.argsArray) {
    return structuredClone(message, transfer ? { transfer: [...transfer] } : undefined);
  }
  const operators: Operators = { fnArray: [...chunk.fnArray], argsArray: [...chunk.argsArray] };
  return { ...(message as object), chunk: { ...chunk, ...operators } };
}
