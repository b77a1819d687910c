/** Reads Google's `tbs` parameter as far as it limits the time. */
import { daysAgo } from '../days-ago.ts';

const DAYS: Readonly<Record<string, number>> = { h: 1, d: 1, w: 7, m: 31, y: 366 };

export interface TimeRange {
  readonly since?: string;
  readonly until?: string;
}

/** Returns `undefined` for a value that does not limit the time in a known way. */
export function timeRange(tbs: string, now: number): TimeRange | undefined {
  const last = /(?:^|,)qdr:([hdwmy])(\d*)(?:,|$)/.exec(tbs);
  if (last) return { since: daysAgo(last[1] === 'h' ? 1 : DAYS[last[1]!]! * Number(last[2] || 1), now) };
  if (!/(?:^|,)cdr:1(?:,|$)/.test(tbs)) return undefined;
  const [since, until] = [dateOf(tbs, 'cd_min'), dateOf(tbs, 'cd_max')];
  return { ...(since && { since }), ...(until && { until }) };
}

/** A date such as `cd_min:1/31/2026`, with the month first. */
function dateOf(tbs: string, name: string): string | undefined {
  const found = new RegExp(`(?:^|,)${name}:(\\d{1,2})/(\\d{1,2})/(\\d{4})(?:,|$)`).exec(tbs);
  return found ? `${found[3]}-${found[1]!.padStart(2, '0')}-${found[2]!.padStart(2, '0')}` : undefined;
}
