import { expect, it } from 'vitest';
import { newId } from './ids.ts';

it('creates increasing UUIDs of version 7', () => {
  const before = Date.now();
  const ids = Array.from({ length: 20_000 }, newId);
  const form = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
  expect(ids.filter((id) => !form.test(id))).toEqual([]);
  expect(ids).toEqual(ids.toSorted());
  expect(new Set(ids).size).toBe(ids.length);
  expect(Number.parseInt(ids[0]!.slice(0, 13).replace('-', ''), 16)).toBeGreaterThanOrEqual(before);
});
