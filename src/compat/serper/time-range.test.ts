import { expect, it } from 'vitest';
import { timeRange } from './time-range.ts';

const NOW = Date.parse('2026-03-31T12:00:00Z');

it.each([
  ['qdr:h', { since: '2026-03-30' }],
  ['qdr:d', { since: '2026-03-30' }],
  ['qdr:w', { since: '2026-03-24' }],
  ['qdr:d3', { since: '2026-03-28' }],
  ['sbd:1,qdr:y', { since: '2025-03-30' }],
  ['cdr:1,cd_min:1/2/2026,cd_max:2/28/2026', { since: '2026-01-02', until: '2026-02-28' }],
  ['cdr:1,cd_min:12/1/2025', { since: '2025-12-01' }],
  ['li:1', undefined],
  ['qdr:x', undefined],
])('%s', (tbs, range) => {
  expect(timeRange(tbs, NOW)).toEqual(range);
});
