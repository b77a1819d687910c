/**
 * The clock of a page. When nothing that a page waits for is on the network, its clock is advanced faster than real time
 * (the virtual time of the DevTools protocol), so that what its timers will do in the next seconds happens at once.
 * The clock advances in steps with pauses between them, because frames are drawn, databases are opened and workers are
 * started in real time. Times are in milliseconds.
 *
 * Virtual time cannot be switched off again: after the first step, the page's clock only runs while it is advanced.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { CDPSession } from 'playwright-core';

/** One step of the page's clock, and the least real time for it. */
const FAST = { step: 200, real: 10 };
const REAL_TIME = { step: 25, real: 25 };
/**
 * Real time after which a step that has not ended means that a script never ends. A script that waits by looking at the
 * clock is one: while a script runs, the clock of its page stands still. In real time, it would end.
 */
const STUCK_MS = 3_000;
/** Real time for which a clock may be advanced. Then the machine is too slow, or the page too busy, to gain by it. */
const MAX_FAST_MS = 1_500;

export interface PageClock {
  /** The page's time: `performance.now()`, and the time that the page was advanced by. */
  now(): number;
  /** Whether the clock can be advanced any further. */
  readonly canAdvance: boolean;
  /** The page's time up to which it ran faster than real time; `undefined` if it never did. */
  readonly advancedUntil: number | undefined;
  /** Call when `mayAdvance` may have a different result. */
  wake(): void;
  stop(): void;
}

export interface PageClockConfig {
  readonly session: CDPSession;
  /** Whether the page's clock may run faster than real time now. */
  readonly mayAdvance: () => boolean;
  /** Called after each step. */
  readonly onStep: () => void;
  /** Called when a script of the page does not end while its clock stands still. */
  readonly onStuck: () => void;
}

export function startPageClock({ session, mayAdvance, onStep, onStuck }: PageClockConfig): PageClock {
  let gained = 0;
  let fastMs = 0;
  let isVirtual = false;
  let canAdvance = true;
  let advancedUntil: number | undefined;
  let stopped = false;
  let wake: (() => void) | undefined;
  let expired: (() => void) | undefined;

  session.on('Emulation.virtualTimeBudgetExpired', () => expired?.());

  /** Advances the clock of the page by `step`. Returns when the page has reached that time, or the clock was stopped. */
  const advance = async (step: number): Promise<void> => {
    const reached = new Promise<void>((resolve) => {
      expired = resolve;
    });
    const stuck = setTimeout(onStuck, STUCK_MS);
    try {
      await session.send('Emulation.setVirtualTimePolicy', { policy: 'advance', budget: step });
      isVirtual = true;
      await reached;
    } finally {
      clearTimeout(stuck);
    }
  };

  const run = async () => {
    while (!stopped) {
      const isFast = canAdvance && mayAdvance();
      if (!isFast && !isVirtual) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
        continue;
      }
      const { step, real } = isFast ? FAST : REAL_TIME;
      const from = performance.now();
      await advance(step);
      const left = from + real - performance.now();
      if (left > 1) await sleep(left);
      const spent = performance.now() - from;
      if (isFast) {
        fastMs += spent;
        gained += Math.max(step - spent, 0);
        canAdvance = fastMs < MAX_FAST_MS;
        advancedUntil = performance.now() + gained;
      }
      onStep();
    }
  };
  // The page was closed, or this browser has no virtual time. In that case, its pages run in real time.
  run().catch(() => {
    canAdvance = false;
    onStep();
  });

  return {
    now: () => performance.now() + gained,
    get canAdvance() {
      return canAdvance;
    },
    get advancedUntil() {
      return advancedUntil;
    },
    wake: () => wake?.(),
    stop() {
      stopped = true;
      canAdvance = false;
      wake?.();
      expired?.();
    },
  };
}
