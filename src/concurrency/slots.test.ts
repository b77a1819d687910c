import { expect, it } from 'vitest';
import { createSlots } from './slots.ts';

const NEVER = new AbortController().signal;

it('runs a limited number at a time, the others in order', async () => {
  const slots = createSlots(2);
  const order: number[] = [];
  const [first, second] = await Promise.all([slots.take(NEVER), slots.take(NEVER)]);
  const waiting = [0, 1, 2].map((index) =>
    slots.take(NEVER).then((give) => {
      order.push(index);
      return give;
    }),
  );
  await Promise.resolve();
  expect(order).toEqual([]);
  first();
  first();
  (await waiting[0]!)();
  (await waiting[1]!)();
  (await waiting[2]!)();
  second();
  expect(order).toEqual([0, 1, 2]);
  const both = await Promise.all([slots.take(NEVER), slots.take(NEVER)]);
  for (const give of both) give();
});

it('drops waiting calls that are aborted', async () => {
  const slots = createSlots(1);
  const give = await slots.take(NEVER);
  const leaving = new AbortController();
  const left = slots.take(leaving.signal);
  const stays = slots.take(NEVER);
  leaving.abort(new Error('left'));
  await expect(left).rejects.toThrow('left');
  await expect(slots.take(leaving.signal)).rejects.toThrow('left');
  give();
  (await stays)();
  (await slots.take(NEVER))();
});
