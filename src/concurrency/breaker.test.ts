import { expect, it } from 'vitest';
import { createBreaker } from './breaker.ts';

function start() {
  let now = 1_000;
  const states: string[] = [];
  const breaker = createBreaker({
    failures: 3,
    firstMs: 1_000,
    longestMs: 3_000,
    now: () => now,
    refusal: (leftMs) => new Error(`${leftMs} ms`),
    onChange: (state) => states.push(state),
  });
  const refusal = (): string | undefined => {
    try {
      breaker.enter().abandoned();
      return undefined;
    } catch (error) {
      return (error as Error).message;
    }
  };
  const fail = (times: number) => {
    for (let turn = 0; turn < times; turn++) breaker.enter().failed();
  };
  return { breaker, states, refusal, fail, pass: (ms: number) => (now += ms) };
}

it('opens only after consecutive failures', () => {
  const { breaker, refusal, fail } = start();
  fail(2);
  breaker.enter().succeeded();
  fail(2);
  expect(refusal()).toBeUndefined();
  fail(1);
  expect(refusal()).toBe('1000 ms');
});

it('allows one trial request after a pause that grows with each failure', () => {
  const { breaker, refusal, fail, pass, states } = start();
  fail(3);
  pass(999);
  expect(refusal()).toBeDefined();
  pass(1);
  const probe = breaker.enter();
  // Only one request probes the server.
  expect(refusal()).toBe('0 ms');
  probe.failed();
  expect(refusal()).toBe('2000 ms');
  pass(2_000);
  breaker.enter().failed();
  expect(refusal()).toBe('3000 ms');
  pass(3_000);
  breaker.enter().succeeded();
  expect(refusal()).toBeUndefined();
  fail(2);
  expect(refusal()).toBeUndefined();
  expect(states).toEqual(['open', 'closed']);
});

it('allows another trial when the first one was aborted', () => {
  const { breaker, refusal, fail, pass } = start();
  fail(3);
  pass(1_000);
  breaker.enter().abandoned();
  const probe = breaker.enter();
  expect(refusal()).toBeDefined();
  probe.succeeded();
  probe.failed();
  expect(refusal()).toBeUndefined();
});

it('ignores failures of requests from before it opened, but not their successes', () => {
  const { breaker, refusal, fail, pass } = start();
  const [early, late] = [breaker.enter(), breaker.enter()];
  fail(3);
  pass(900);
  early.failed();
  pass(100);
  expect(refusal()).toBeUndefined();
  late.succeeded();
  fail(2);
  expect(refusal()).toBeUndefined();
});
