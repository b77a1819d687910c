import { describe, expect, it } from 'vitest';
import { createAdmission, RequestTooLargeError } from './admission.ts';

const full = expect.objectContaining({ name: 'ServiceNodeResourceDrainError' });

it('takes requests in up to its bound, and again when some have left', () => {
  const intake = createAdmission({ most: 100, mostOfOne: 100 });
  const first = intake.enter(60);
  const second = intake.enter(40);
  expect(() => intake.enter(1)).toThrow('Too much is in work');
  first.leave();
  const third = intake.enter(60);
  expect(() => intake.enter(1)).toThrow(full);
  second.leave();
  third.leave();
});

it('takes one of any size when nothing is in work', () => {
  const intake = createAdmission({ most: 100, mostOfOne: 100 });
  const only = intake.enter(5_000);
  expect(() => intake.enter(0)).toThrow(full);
  only.leave();
  intake.enter(5_000).leave();
});

describe('what a request grows by', () => {
  it('counts until it is let go, or the request leaves', () => {
    const intake = createAdmission({ most: 100, mostOfOne: 100 });
    const first = intake.enter(10);
    const second = intake.enter(10);
    const letGo = first.hold(50);
    expect(() => second.hold(31)).toThrow(full);
    letGo();
    second.hold(31);
    first.hold(49);
    expect(() => intake.enter(1)).toThrow(full);
    first.leave();
    intake.enter(59).leave();
    second.leave();
    intake.enter(10);
    intake.enter(90);
  });

  it('may be more than all together when it is alone, and has an end then', () => {
    const share = createAdmission({ most: 100, mostOfOne: 300 }).enter(80);
    share.hold(200);
    expect(() => share.hold(101)).toThrow(RequestTooLargeError);
    share.hold(100);
  });
});
