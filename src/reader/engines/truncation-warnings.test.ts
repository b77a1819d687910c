import { expect, test } from 'vitest';
import { partialResponseWarning } from './truncation-warnings.ts';

test.each([
  [206, undefined],
  [206, 'bytes 0-99/200'],
  [206, 'bytes 100-199/200'],
  [206, 'bytes 0-99/*'],
  [206, 'nonsense'],
])('status %i with the range %s is partial', (status, range) => {
  expect(partialResponseWarning(status, range)).toContain('only a part');
});

test.each([
  [206, 'bytes 0-199/200'],
  [206, ' Bytes 0-199/200 '],
  [200, 'bytes 0-99/200'],
  [200, undefined],
])('status %i with the range %s is complete', (status, range) => {
  expect(partialResponseWarning(status, range)).toBeUndefined();
});
