/**
 * Keeps the limits of public sources: requests per period, one connection at a time, and pauses after a refusal. This
 * is the only place that decides whether a request to a public source may be sent.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { unlessAborted } from '#concurrency/deadline.ts';
import { ProviderError } from './ask-provider.ts';
import { isPublicService, type ProviderRow } from './settings.ts';
import type { SearchStore } from './store.ts';

export interface SourceLimiter {
  /** Whether the operator of the source has asked for a pause that has not ended. */
  isPaused(): Promise<boolean>;
  /**
   * Runs `work` when the limits permit it. Waits for at most MAX_WAIT_MS; rejects with ProviderError if that is too
   * short, or the signal's reason.
   */
  run<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T>;
  pause(ms: number): Promise<void>;
}

/** The connections of this process: one for each operator. */
export interface Connections {
  /** Resolves with a function that releases the connection. */
  take(operator: string, signal: AbortSignal): Promise<() => void>;
}

/** Maximum time that a search waits for a limit or a connection. Longer waits would delay the list. */
const MAX_WAIT_MS = 800;

export function createConnections(): Connections {
  const last = new Map<string, Promise<void>>();
  return {
    async take(operator, signal) {
      const before = last.get(operator);
      let release = () => {};
      const done = new Promise<void>((resolve) => {
        release = resolve;
      });
      const chain = (before ?? Promise.resolve()).then(() => done);
      last.set(operator, chain);
      void chain.then(() => {
        if (last.get(operator) === chain) last.delete(operator);
      });
      try {
        if (before) await unlessAborted(signal, before);
      } catch (error) {
        release();
        throw error;
      }
      return release;
    },
  };
}

export interface LimiterParts {
  readonly store: SearchStore;
  readonly connections: Connections;
}

/** Returns `undefined` for a provider that is not a public source. */
export function createLimiter(row: ProviderRow, { store, connections }: LimiterParts): SourceLimiter | undefined {
  const { name, provider, settings } = row;
  const { source } = provider;
  if (!source) return undefined;
  // A server of the operator's choice does not share the limits of the public one.
  const operator = isPublicService(row) ? source.operator : `own:${name}`;
  const limits = (settings.key !== undefined && source.keyLimits) || source.limits;
  const count = source.requests ?? 1;

  async function admit(signal: AbortSignal): Promise<void> {
    const startedAt = performance.now();
    for (;;) {
      const waitMs = await store.takeRequests(operator, limits, count);
      if (waitMs === 0) return;
      if (performance.now() - startedAt + waitMs > MAX_WAIT_MS)
        throw new ProviderError('is at its rate limit', { restMs: waitMs, reason: 'rate limit' });
      await delay(waitMs, undefined, { signal }).catch(() => signal.throwIfAborted());
    }
  }

  const isPaused = () => store.isPaused(operator);

  return {
    isPaused,
    pause: (ms) => store.pause(operator, ms),
    async run(signal, work) {
      const refuseDuringPause = async () => {
        if (await isPaused()) throw new ProviderError('has asked for a pause', { reason: 'rate limit' });
      };
      await refuseDuringPause();
      const waiting = AbortSignal.timeout(MAX_WAIT_MS);
      const release = await connections.take(operator, AbortSignal.any([signal, waiting])).catch((error: unknown) => {
        if (signal.aborted || !waiting.aborted) throw error;
        throw new ProviderError('is busy with other searches', { reason: 'rate limit' });
      });
      try {
        await refuseDuringPause();
        await admit(signal);
        return await work();
      } finally {
        release();
      }
    },
  };
}
