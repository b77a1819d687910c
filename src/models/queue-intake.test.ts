import { expect, it } from 'vitest';
import { createIntake } from './queue-intake.ts';

it('takes texts in up to its bound, and again when some have left', () => {
  const intake = createIntake(100);
  const first = intake.enter(60);
  const second = intake.enter(40);
  expect(() => intake.enter(1)).toThrow('Too much text is in work');
  first();
  const third = intake.enter(60);
  expect(() => intake.enter(1)).toThrow(expect.objectContaining({ name: 'ServiceNodeResourceDrainError' }));
  second();
  third();
});

it('takes one of any size when nothing is in work', () => {
  const intake = createIntake(100);
  const only = intake.enter(5_000);
  expect(() => intake.enter(0)).toThrow();
  only();
  intake.enter(5_000)();
});
