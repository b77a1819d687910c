/** The date filter of a search: `qdr:w` for the last week, or `cdr:1,cd_min:1/1/2026,cd_max:31/1/2026`-like ranges. */
import { problem } from '#errors.ts';

const DAY_MS = 86_400_000;
const DAYS: Readonly<Record<string, number>> = { h: 1, d: 1, w: 7, m: 31, y: 366 };

export interface DateRange {
  readonly since?: string;
  readonly until?: string;
}

/** Throws ParamValidationError for another text. Dates of a range are month/day/year. */
export function readTbs(tbs: string, now: number): DateRange {
  const period = /(?:^|,)qdr:([hdwmy])\d*(?:,|$)/.exec(tbs)?.[1];
  if (period) return { since: dayOf(now - DAYS[period]! * DAY_MS) };
  const min = dateIn(tbs, 'cd_min');
  const max = dateIn(tbs, 'cd_max');
  // `until` is the day after the last one.
  if (min || max) return { ...(min && { since: dayOf(min) }), ...(max && { until: dayOf(max + DAY_MS) }) };
  if (/^sbd:[01]$/.test(tbs)) return {};
  throw problem('ParamValidationError', {
    path: 'tbs',
    message: 'tbs must be such as qdr:w or cdr:1,cd_min:1/31/2026',
  });
}

const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

function dateIn(tbs: string, name: string): number | undefined {
  const [, month, day, year] = new RegExp(`(?:^|,)${name}:(\\d{1,2})/(\\d{1,2})/(\\d{4})(?:,|$)`).exec(tbs) ?? [];
  if (!year) return undefined;
  const ms = Date.UTC(Number(year), Number(month) - 1, Number(day));
  return Number.isNaN(ms) ? undefined : ms;
}
