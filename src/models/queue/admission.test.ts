import { describe, expect, it } from 'vitest';
import { createAdmission, RequestTooLargeError } from './admission.ts';

const full = expect.objectContaining({ name: 'ServiceNodeResourceDrainError' });

it('admits requests up to its limit, and more once some have left', () => {
  const admission = createAdmission({ most: 100, mostOfOne: 100 });
  const first = admission.enter(60);
  const second = admission.enter(40);
  expect(() => admission.enter(1)).toThrow('This server has too much work in progress');
  first.leave();
  const third = admission.enter(60);
  expect(() => admission.enter(1)).toThrow(full);
  second.leave();
  third.leave();
});

it('admits one request of any size while it is empty', () => {
  const admission = createAdmission({ most: 100, mostOfOne: 100 });
  const only = admission.enter(5_000);
  expect(() => admission.enter(0)).toThrow(full);
  only.leave();
  admission.enter(5_000).leave();
});

describe('memory that a request reserves later', () => {
  it('counts until it is released or the request leaves', () => {
    const admission = createAdmission({ most: 100, mostOfOne: 100 });
    const first = admission.enter(10);
    const second = admission.enter(10);
    const release = first.hold(50);
    expect(() => second.hold(31)).toThrow(full);
    release();
    second.hold(31);
    first.hold(49);
    expect(() => admission.enter(1)).toThrow(full);
    first.leave();
    admission.enter(59).leave();
    second.leave();
    admission.enter(10);
    admission.enter(90);
  });

  it('may exceed the total limit if the request is alone, up to a limit for one request', () => {
    const share = createAdmission({ most: 100, mostOfOne: 300 }).enter(80);
    share.hold(200);
    expect(() => share.hold(101)).toThrow(RequestTooLargeError);
    share.hold(100);
  });
});
