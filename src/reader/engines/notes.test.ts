import { expect, test } from 'vitest';
import { partNote } from './notes.ts';

test.each([
  [206, undefined],
  [206, 'bytes 0-99/200'],
  [206, 'bytes 100-199/200'],
  [206, 'bytes 0-99/*'],
  [206, 'nonsense'],
])('status %i with the range %s is partial', (status, range) => {
  expect(partNote(status, range)).toContain('only a part');
});

test.each([
  [206, 'bytes 0-199/200'],
  [206, ' Bytes 0-199/200 '],
  [200, 'bytes 0-99/200'],
  [200, undefined],
])('status %i with the range %s is complete', (status, range) => {
  expect(partNote(status, range)).toBeUndefined();
});
