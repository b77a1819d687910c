/**
 * The message channel between the two parts of PDF.js, both in this thread. PDF.js's own channel delivers messages
 * before any timer can fire, so an endless page could never time out. This one yields to timers regularly.
 */

type Listener = (event: { readonly data: unknown }) => void;

/** Time after which the channel yields to timers. */
const MAX_BUSY_MS = 50;

export interface Port {
  postMessage(message: unknown, transfer?: readonly ArrayBuffer[]): void;
  addEventListener(name: string, listener: Listener, options?: { readonly signal?: AbortSignal }): void;
  removeEventListener(name: string, listener: Listener): void;
  terminate(): void;
}

/** One port serves both parts: each handles only the messages addressed to it. */
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
      waiting.push(copyForReceiver(message, transfer));
      if (isScheduled) return;
      isScheduled = true;
      if (performance.now() - turnBegan > MAX_BUSY_MS) setImmediate(deliverInNextTurn);
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
 * Returns the copy for the receiver: a structured clone, as between threads. For an operator list, only the list itself
 * is copied: its sender empties the list but keeps no reference to its content, and cloning the content would take a
 * third of the total time.
 */
function copyForReceiver(message: unknown, transfer: readonly ArrayBuffer[] | undefined): unknown {
  const chunk = (message as { readonly chunk?: Partial<Operators> | null }).chunk;
  if (!chunk?.fnArray || !chunk.argsArray) {
    return structuredClone(message, transfer ? { transfer: [...transfer] } : undefined);
  }
  const operators: Operators = { fnArray: [...chunk.fnArray], argsArray: [...chunk.argsArray] };
  return { ...(message as object), chunk: { ...chunk, ...operators } };
}
