import { expect, it } from 'vitest';
import { createMemoryValues } from '#storage/shared/memory.ts';
import { createRecentPageStore } from './recent.ts';
import { createSharedRecentPages } from './shared-recent.ts';

const MINUTE_MS = 60_000;

it('shows a holder the pages of all servers, for as long as the first one would', async () => {
  let time = 1_000_000;
  const clock = () => time;
  const store = createMemoryValues({ clock });
  const [here, there] = [0, 1].map(() => createSharedRecentPages(store, createRecentPageStore(clock)));
  const page = { url: 'https://a.example/', reading: 'a', text: 'Tea' };
  here!.of('me').put(page);
  here!.of('me').put({ ...page, reading: 'long', text: 'x'.repeat(200_001) });
  const seen = async () => {
    await there!.load('me');
    return there!.of('me').find('a')?.text;
  };
  await expect.poll(seen).toBe('Tea');
  expect(there!.of('me').find('long')).toBeUndefined();
  await there!.load('you');
  expect(there!.of('you').list()).toEqual([]);
  time += 10 * MINUTE_MS;
  await there!.load('me');
  time += 6 * MINUTE_MS;
  await there!.load('me');
  expect(there!.of('me').list()).toEqual([]);
});
