import { getMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { NEVER_ABORTED } from './never-aborted.ts';
import { createSlots } from './slots.ts';

it('can be the signal of any number of calls at the same time, without a warning of the runtime', async () => {
  const warnings: string[] = [];
  const listen = ({ message }: Error) => void warnings.push(message);
  process.on('warning', listen);
  try {
    const slots = createSlots(1);
    await Promise.all(Array.from({ length: 30 }, async () => (await slots.take(NEVER_ABORTED))()));
    await sleep(10);
    expect(warnings).toEqual([]);
    const ordinary = new AbortController().signal;
    await Promise.all(Array.from({ length: 30 }, async () => (await slots.take(ordinary))()));
    await sleep(10);
    // Since Node.js 24, no signal has a limit.
    const warned = getMaxListeners(ordinary) > 0 ? [expect.stringContaining('11 abort listeners')] : [];
    expect(warnings).toEqual(warned);
  } finally {
    process.off('warning', listen);
  }
});
