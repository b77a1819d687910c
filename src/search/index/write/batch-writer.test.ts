/** When pages are written, and with which others. */
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { IndexStore } from '../store/index-store.ts';
import { createBatchWriter } from './batch-writer.ts';
import { type PreparedPage, preparePage } from './prepare-page.ts';

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

const pageOf = (number: number): PreparedPage =>
  preparePage({ url: `https://a.test/${number}`, title: '', content: 'Words.' }, 0, 0)!;

/** A writer, and the sizes of the batches that it has written. */
function writerAndBatches() {
  const batches: number[] = [];
  const store = {
    write: async (pages: readonly PreparedPage[]) => {
      batches.push(pages.length);
      return pages.map(() => true);
    },
    stats: async () => ({ bytes: 0 }),
  } as unknown as IndexStore;
  return { writer: createBatchWriter({ store, maxBytes: 1e9, onWritten: () => {} }), batches };
}

it('a page is written soon if no other follows', async () => {
  const { writer, batches } = writerAndBatches();
  const written = writer.write(pageOf(1));
  await vi.advanceTimersByTimeAsync(25);
  expect(batches).toEqual([1]);
  expect(await written).toBe(true);
});

it('pages that follow each other are written together, but none waits for long', async () => {
  const { writer, batches } = writerAndBatches();
  for (let number = 0; number < 100; number++) {
    void writer.write(pageOf(number));
    await vi.advanceTimersByTimeAsync(10);
  }
  await writer.flush();
  expect(batches.length).toBeLessThan(5);
  expect(batches.reduce((sum, size) => sum + size)).toBe(100);
});

it('many pages are written at once without waiting', async () => {
  const { writer, batches } = writerAndBatches();
  const all = Array.from({ length: 256 }, (_, number) => writer.write(pageOf(number)));
  await Promise.all(all);
  expect(batches).toEqual([256]);
});
