/** Parses times: ISO 8601 dates and times, or durations relative to now. */

const UNITS_MS = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 } as const;
const DURATION = /^(\d{1,5})([smhdw])$/;
const DAY = /^\d{4}-\d\d-\d\d$/;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?(?:Z|[+-]\d\d:\d\d)$/;

export const TIME_HELP = 'an ISO date (UTC), a time with its zone, or a duration such as 30d (s, m, h, d, w)';

/**
 * Returns milliseconds since 1970. A duration is either `from now` or `ago`. If the text is invalid, the Error lists
 * the accepted formats.
 */
export function readTime(text: string, now: number, duration: 'from now' | 'ago'): number {
  const [, count, unit] = DURATION.exec(text) ?? [];
  if (count) {
    const ms = Number(count) * UNITS_MS[unit as keyof typeof UNITS_MS];
    return duration === 'ago' ? now - ms : now + ms;
  }
  const time = DAY.test(text) || TIME.test(text) ? Date.parse(text) : Number.NaN;
  // Date.parse turns an invalid day, such as 31 February, into another one.
  if (Number.isNaN(time) || (DAY.test(text) && !new Date(time).toISOString().startsWith(text))) {
    throw new Error(`${text} is not a time: use ${TIME_HELP}`);
  }
  return time;
}

/** `YYYY-MM-DD` in UTC. */
export const dayOf = (time: number): string => new Date(time).toISOString().slice(0, 10);

/** Formats an ISO time as `YYYY-MM-DD HH:MM` in UTC. */
export const shortTime = (iso: string | null): string => (iso === null ? '-' : iso.slice(0, 16).replace('T', ' '));
