import fc from 'fast-check';
import { expect, it } from 'vitest';
import { isFinal, type JobState, nextState, STATES, TRANSITIONS, type TransitionName } from './states.ts';

const names = Object.keys(TRANSITIONS) as TransitionName[];

it('allows exactly the documented moves', () => {
  const legal = names.flatMap((name) =>
    STATES.flatMap((state) => {
      const to = nextState(state, name);
      return to === undefined ? [] : [`${state} ${name} ${to}`];
    }),
  );
  expect(legal.sort()).toEqual(
    [
      'pending take processing',
      'processing take processing',
      'processing complete completed',
      'pending fail failed',
      'processing fail failed',
      'pending cancel cancelled',
      'processing cancel cancelled',
      'pending lapse expired',
      'processing lapse expired',
      'completed expire expired',
      'failed expire expired',
      'cancelled expire expired',
    ].sort(),
  );
});

it('never leaves a final state except to expire', () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...names), { maxLength: 30 }), (tried) => {
      let state: JobState = 'pending';
      let ends = 0;
      for (const name of tried) {
        const next = nextState(state, name);
        if (next === undefined) continue;
        if (isFinal(state)) expect(next).toBe('expired');
        else if (isFinal(next)) ends++;
        state = next;
      }
      expect(ends).toBeLessThanOrEqual(1);
    }),
    { seed: 8 },
  );
});
