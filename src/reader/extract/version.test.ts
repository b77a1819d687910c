import { expect, test } from 'vitest';
import { extractionVersion } from './version.ts';

test('a version is a number and a digest, and is stable', () => {
  expect(extractionVersion()).toMatch(/^\d+-[0-9a-f]{8}$/);
  expect(extractionVersion()).toBe(extractionVersion());
});
