import { EventEmitter } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { CDPSession } from 'playwright-core';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { type PageClockConfig, startPageClock } from './page-clock.ts';

/** A DevTools session whose page reaches the time that it is advanced to at once, or never if a script does not end. */
function start({ isStuck = false, ...config }: Partial<PageClockConfig> & { isStuck?: boolean } = {}) {
  const session = new EventEmitter() as EventEmitter & { send: unknown };
  const steps: number[] = [];
  session.send = async (method: string, { policy, budget }: { policy: string; budget: number }) => {
    expect([method, policy]).toEqual(['Emulation.setVirtualTimePolicy', 'advance']);
    steps.push(budget);
    if (!isStuck) setImmediate(() => session.emit('Emulation.virtualTimeBudgetExpired'));
  };
  const onStuck = vi.fn();
  const clock = startPageClock({
    session: session as unknown as CDPSession,
    mayAdvance: () => false,
    onStep: () => {},
    onStuck,
    ...config,
  });
  onTestFinished(() => clock.stop());
  return { clock, steps, onStuck };
}

describe('the clock of a page', () => {
  it('is the real clock until it may be advanced', async () => {
    const { clock, steps } = start();
    await sleep(30);
    expect(steps).toEqual([]);
    expect(clock.canAdvance).toBe(true);
    expect(clock.advancedUntil).toBeUndefined();
    expect(Math.abs(clock.now() - performance.now())).toBeLessThan(50);
  });

  it('is ahead by the steps that it was advanced by, and goes on in real time afterwards', async () => {
    let left = 10;
    const { clock, steps } = start({ mayAdvance: () => left-- > 0 });
    await vi.waitFor(() => expect(steps.at(-1)).toBe(25));
    expect(steps.filter((step) => step === 200)).toHaveLength(10);
    const gained = clock.now() - performance.now();
    expect(gained).toBeGreaterThan(0);
    expect(gained).toBeLessThanOrEqual(2_000);
    expect(clock.advancedUntil).toBeLessThanOrEqual(clock.now());
    const count = steps.length;
    await vi.waitFor(() => expect(steps.length).toBeGreaterThan(count + 2), 10_000);
    expect(new Set(steps.slice(10))).toEqual(new Set([25]));
    expect(Math.abs(clock.now() - performance.now() - gained)).toBeLessThan(50);
  });

  it('can be advanced for a limited time only', async () => {
    const { clock } = start({ mayAdvance: () => true });
    await vi.waitFor(() => expect(clock.canAdvance).toBe(false), 5_000);
  });

  it('reports a script that does not end, and stops', async () => {
    const { clock, steps, onStuck } = start({ isStuck: true, mayAdvance: () => true });
    await vi.waitFor(() => expect(onStuck).toHaveBeenCalledOnce(), 10_000);
    expect(steps).toEqual([200]);
    clock.stop();
    expect(clock.canAdvance).toBe(false);
  });

  it('remains the real clock if the browser has no virtual time', async () => {
    const session = Object.assign(new EventEmitter(), { send: () => Promise.reject(new Error('unknown method')) });
    const { clock } = start({ session: session as unknown as CDPSession, mayAdvance: () => true });
    clock.wake();
    await vi.waitFor(() => expect(clock.canAdvance).toBe(false));
    expect(clock.advancedUntil).toBeUndefined();
  });
});
